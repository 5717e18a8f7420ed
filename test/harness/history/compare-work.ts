import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../../packages/protocol/src/address.ts'
import { openTestDatabase } from '../../../packages/till/src/store/testing.ts'
import { openTill, type TillFixture } from '../till-fixture.ts'
import { type Counted, createWorkCounter, type RouteCaller, type WorkCounter } from './count-work.ts'
import { fillHistory } from './fill-history.ts'
import { idOf } from './history-rows.ts'

export type Sizes = { sales: number; wallets: number }

export type Compared = {
  /** What reads more with the longer past, and where. */
  grown: string[]
  /** What each said, by the id of the route or the name of the job. */
  outcomes: Record<string, string>
  /** Blocks with each past, by job or route. */
  counted: Record<string, number[]>
  jobs: number
  routes: number
}

export type CompareOptions = {
  sizes: readonly [Sizes, Sizes]
  days?: number
  say?(text: string): void
  onFilled?(databaseUrl: string): Promise<void>
}

const network = 'eip155:8453'
const dayMs = 86_400_000
/** Wallet of the operator and of a tenth of all sales: whatever is asked about one wallet is asked about this one. */
const account: PrivateKeyAccount = privateKeyToAccount(`0x${'77'.repeat(32)}`)
const heavy = account.address.toLowerCase() as Address

/** Runs all jobs and calls all routes of a whole node with a short past, then with a long one. */
export async function compareWork(options: CompareOptions): Promise<Compared> {
  const counter = createWorkCounter()
  const db = await openTestDatabase()
  let till: TillFixture | undefined
  try {
    // Statements are planned for their values, as on the server of a node.
    await db.owner.query(
      `do $$ begin execute format('alter database %I set plan_cache_mode = auto', current_database()); end $$`,
    )
    till = await openTill({
      databaseUrl: db.databaseUrl,
      intercept: counter.intercept,
      shops: [counter.shop],
      env: { OPERATORS: account.address },
    })
    await till.base.control.fund(heavy, { microUsdc: 1_000_000_000_000n, wei: 0n })
    return await compare(counter, till, db.databaseUrl, options)
  } finally {
    await till?.close()
    await db.close()
  }
}

async function compare(
  counter: WorkCounter,
  till: TillFixture,
  databaseUrl: string,
  { sizes: [small, large], days = 365, say, onFilled }: CompareOptions,
): Promise<Compared> {
  const nowMs = Date.now()
  const fill = { databaseUrl, heavy, payTo: `0x${'b'.repeat(40)}`, network, nowMs, days, ...(say ? { say } : {}) }
  const caller = callerOf(till, nowMs - days * dayMs, nowMs)
  await fillHistory({ ...fill, ...small })
  // Sales that are still being finished count for what comes next: the higher of two rounds is compared.
  const before = highest(await countAll(counter, caller), await countAll(counter, caller))
  await fillHistory({ ...fill, ...large, written: small })
  await onFilled?.(databaseUrl)
  // What was left to do is done in the first round.
  await counter.countJobs()
  let after = await countAll(counter, caller)
  for (let again = 0; again < 2 && grownOf(before, after).length > 0; again += 1)
    after = lowest(after, await countAll(counter, caller, new Set(grownOf(before, after).map(([name]) => name))))
  const routes = new Set(counter.routes().map(({ id }) => id))
  return {
    grown: grownOf(before, after).map(
      ([name, now]) =>
        `${name}: ${before[name]?.blocks} blocks, ${now.blocks} with the longer past ${JSON.stringify(now.byTable)}`,
    ),
    outcomes: Object.fromEntries(
      Object.entries(after).flatMap(([name, { outcome }]) => (name.includes(' ') ? [] : [[name, outcome]])),
    ),
    counted: Object.fromEntries(
      Object.entries(after).map(([name, { blocks }]) => [name, [before[name]?.blocks ?? 0, blocks]]),
    ),
    jobs: counter.jobNames().length,
    routes: routes.size,
  }
}

type Counts = Record<string, Counted>

async function countAll(counter: WorkCounter, caller: RouteCaller, only?: ReadonlySet<string>): Promise<Counts> {
  return { ...(await counter.countJobs(only)), ...(await counter.countRoutes(caller, only)) }
}

const grownOf = (before: Counts, after: Counts) =>
  Object.entries(after).filter(([name, { blocks }]) => blocks > 2 * (before[name]?.blocks ?? 0) + 150)

const highest = (one: Counts, other: Counts): Counts => merged(one, other, (a, b) => a.blocks > b.blocks)
const lowest = (one: Counts, other: Counts): Counts => merged(one, other, (a, b) => a.blocks < b.blocks)

const merged = (one: Counts, other: Counts, isBetter: (a: Counted, b: Counted) => boolean): Counts =>
  Object.fromEntries(
    Object.entries(one).map(([name, counted]) => {
      const second = other[name] ?? counted
      return [name, isBetter(counted, second) ? counted : second]
    }),
  )

/** What is asked for is there, and belongs to the wallet with the longest past. */
function callerOf(till: TillFixture, firstMs: number, nowMs: number): RouteCaller {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  return {
    url: till.node.url,
    account,
    known: {
      wallet: heavy,
      did: `did:pkh:${network}:${heavy}`,
      'agents.deactivate did': `did:pkh:${network}:0x${'1'.repeat(40)}`,
      'payments.status id': idOf('pay', firstMs, 0),
      'payments.dispute.show id': idOf('pay', firstMs, 0),
    },
    further: {
      'invoices.issue': [{ body: { from: day(nowMs - 400 * dayMs), to: day(nowMs - 390 * dayMs) } }],
      'operator.payments': [
        { query: { search: heavy } },
        { query: { state: 'failed' } },
        { query: { search: 'no.route' } },
      ],
    },
  }
}
