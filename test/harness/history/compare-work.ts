import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../../packages/protocol/src/address.ts'
import { accounts } from '../../../packages/till/src/ledger/index.ts'
import { openTestDatabase, type TestDatabase } from '../../../packages/till/src/store/testing.ts'
import { faultsInBooks } from '../books.ts'
import { openTill, type TillFixture } from '../till-fixture.ts'
import { type Counted, createWorkCounter, type RouteCaller, sessions, type WorkCounter } from './count-work.ts'
import { fillHistory } from './fill-history.ts'
import { idOf, walletOf } from './history-rows.ts'

export type Sizes = { sales: number; wallets: number }

export type Compared = {
  /** What reads more with each longer past, and where. */
  grown: string[]
  /** What is wrong with the books, which are verified as an operator would, up to `verifiedMax` sales. */
  faults: string[]
  /** What each said, by the id of the route or the name of the job. */
  outcomes: Record<string, string>
  /** Blocks with each past, by job or route. */
  counted: Record<string, number[]>
  jobs: number
  routes: number
}

export type CompareOptions = {
  /** The shortest past and the longest. Between them lies one that is above what a page or a turn of a job takes at most. */
  sizes: readonly [Sizes, Sizes]
  days?: number
  say?(text: string): void
  onFilled?(databaseUrl: string): Promise<void>
}

/** The books of a longer past are made by the same rows and would take half an hour to verify. */
export const verifiedMax = 1_000_000
const network = 'eip155:8453'
const dayMs = 86_400_000
/** Wallet of the operator and of a tenth of all sales: whatever is asked about one wallet is asked about this one. */
const account: PrivateKeyAccount = privateKeyToAccount(`0x${'77'.repeat(32)}`)
const heavy = account.address.toLowerCase() as Address

/** Runs all jobs and calls all routes of a whole node with a short past, with a longer and with a long one. */
export const compareWork = (options: CompareOptions): Promise<Compared> =>
  onNode((counter, till, db) => compare(counter, till, db, options))

/** A past that was written at once, as time would, and what is asked of its database then. */
export const fillOnce = <T>(
  { days = 365, ...past }: Sizes & { days?: number; say?(text: string): void },
  ask: (databaseUrl: string) => Promise<T>,
): Promise<T> =>
  onNode(async (counter, _, { databaseUrl }) => {
    await fillHistory({ databaseUrl, ...fixed, ...past, days, nowMs: Date.now(), settle: settleBy(counter) })
    return ask(databaseUrl)
  })

const fixed = { heavy, payTo: `0x${'b'.repeat(40)}`, network }
const settleBy = (counter: WorkCounter) => () => counter.run(['ledger.seal', 'log.integrate'])

async function onNode<T>(work: (counter: WorkCounter, till: TillFixture, db: TestDatabase) => Promise<T>): Promise<T> {
  const counter = createWorkCounter()
  const db = await openTestDatabase({ poolSize: sessions })
  let till: TillFixture | undefined
  try {
    // Statements are planned for their values, as on the server of a node.
    await db.owner.query(
      `do $$ begin execute format('alter database %I set plan_cache_mode = auto', current_database()); end $$`,
    )
    till = await openTill({
      databaseUrl: db.databaseUrl,
      // Over the few connections of the test, instead of those of the node.
      intercept: { ...counter.intercept, database: () => counter.intercept.database?.(db.database) ?? db.database },
      shops: [counter.shop],
      env: { OPERATORS: account.address },
    })
    await till.base.control.fund(heavy, { microUsdc: 1_000_000_000_000n, wei: 0n })
    return await work(counter, till, db)
  } finally {
    await till?.close()
    await db.close()
  }
}

async function compare(
  counter: WorkCounter,
  till: TillFixture,
  db: TestDatabase,
  { sizes: [shortest, longest], days = 365, say, onFilled }: CompareOptions,
): Promise<Compared> {
  const nowMs = Date.now()
  const caller = callerOf(till, nowMs - days * dayMs, nowMs)
  const fill = { databaseUrl: db.databaseUrl, ...fixed, nowMs, days, settle: settleBy(counter) }
  const count = async (only?: ReadonlySet<string>) => {
    // A balance is looked at in other tables while something is not sealed.
    await fill.settle()
    await db.owner.query(dueShareSql, [accounts.payable(network, heavy, 'refund').name])
    await db.owner.query(noLimitReachedSql)
    return { ...(await counter.countJobs(only)), ...(await counter.countRoutes(caller, only)) }
  }
  const counts: Counts[] = []
  let written: Sizes | undefined
  for (const [place, size] of [shortest, between(shortest, longest), longest].entries()) {
    const turn = { place, of: 3 }
    await fillHistory({ ...fill, ...size, turn, ...(written ? { written } : {}), ...(say ? { say } : {}) })
    written = size
    // What was left to do is done in the first round. A job that goes on where it was has shorter turns at the end of its round.
    await counter.countJobs()
    counts.push(size === longest ? await count() : highest(await counter.countJobs(), await count()))
  }
  await onFilled?.(db.databaseUrl)
  const faults = longest.sales > verifiedMax ? [] : await faultsInBooks(db.owner)
  const [first = {}, second = {}, third = {}] = counts
  let after = third
  // What is read once a second for everybody counts for the first of them: what seems to grow is counted again.
  for (let again = 0; again < 2 && grownOf(first, second, after).length > 0; again += 1)
    after = lowest(after, await count(new Set(grownOf(first, second, after))))
  return {
    grown: grownOf(first, second, after).map(
      (name) => `${name}: ${blocksOf(name, first, second, after)} blocks ${JSON.stringify(after[name]?.byTable)}`,
    ),
    faults,
    outcomes: Object.fromEntries(
      Object.entries(after).flatMap(([name, { outcome }]) => (name.includes(' ') ? [] : [[name, outcome]])),
    ),
    counted: Object.fromEntries(Object.keys(after).map((name) => [name, blocksOf(name, first, second, after)])),
    jobs: counter.jobNames().length,
    routes: new Set(counter.routes().map(({ id }) => id)).size,
  }
}

/** A share that payouts look at, before each count. */
const dueShareSql = 'insert into payout_due select id from ledger_account where name = $1 on conflict do nothing'

/** A route that a limit of the day refuses reads less than it would: each count begins with a new day. */
const noLimitReachedSql = 'delete from notification_challenge'

const between = (one: Sizes, other: Sizes): Sizes => ({
  sales: Math.round(Math.sqrt(one.sales * other.sales)),
  wallets: Math.round(Math.sqrt(one.wallets * other.wallets)),
})

type Counts = Record<string, Counted>

const blocksOf = (name: string, ...counts: readonly Counts[]) => counts.map((one) => one[name]?.blocks ?? 0)

/**
 * Those that read more than with the shortest past and still more than with the one between: what a limit bounds has reached it there,
 * while whatever reads all of something goes on.
 */
export const grownOf = (first: Counts, second: Counts, third: Counts): string[] =>
  Object.keys(third).filter((name) => {
    const [least = 0, middle = 0, most = 0] = blocksOf(name, first, second, third)
    return most > 2 * least + 100 && most > 1.5 * middle + 50
  })

const lowest = (one: Counts, other: Counts): Counts => merged(one, other, (a, b) => a.blocks <= b.blocks)
const highest = (one: Counts, other: Counts): Counts => merged(one, other, (a, b) => a.blocks >= b.blocks)

const merged = (one: Counts, other: Counts, isBetter: (a: Counted, b: Counted) => boolean): Counts =>
  Object.fromEntries(
    Object.entries({ ...other, ...one }).map(([name, counted]) => {
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
        ...[heavy, `0x${'1'.repeat(40)}`, walletOf({ heavy }, 1)].map((search) => ({ query: { search } })),
        { query: { state: 'failed' } },
        { query: { state: 'unknown' } },
        { query: { search: 'no.route' } },
      ],
    },
  }
}
