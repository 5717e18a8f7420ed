import { demoAccount } from '../../packages/till/src/devnet/index.ts'
import { accounts, LedgerRefused, post, reverse } from '../../packages/till/src/ledger/index.ts'
import type { ReconcileReport } from '../../packages/till/src/recovery/reconcile.ts'
import type { Database, Tx } from '../../packages/till/src/store/database.ts'
import { faultsInBooks } from '../harness/books.ts'
import { type AlterLogs, endpoints, openReconciledTill, type ReconciledTill } from '../harness/reconciled-till.ts'
import { echoPath, quote, signPayment } from '../harness/till-fixture.ts'
import { submitAuthorization } from '../harness/wallets.ts'
import { createDice, createFaults, createProgress, type Dice, type Faults, type Proof, plain } from './proof.ts'

const network = 'eip155:8453'
const cyclesAllowed = 2
const cyclesMax = 5

/** What was done behind the back of the books, how it shows when it was found, and what a person then does about it. */
type Injected = { found(report: ReconcileReport): Promise<boolean>; repair?(): Promise<void> }
type Inject = (world: ReconciledTill, micro: bigint) => Promise<Injected>

const kinds = [
  ['extra', plainTransfer],
  ['extra', unclaimedAuthorization],
  ['extra', withdrawal],
  ['missing', postingWithoutTransfer],
  ['doubled', salePostedTwice],
  ['doubled', transferReportedTwice],
] as const satisfies readonly (readonly [string, Inject])[]

/** Why the first cycle after it may find nothing: the block is not final yet, or the chain cannot be read to the end. */
const payoutFaults = ['none', 'none', 'late', 'unread'] as const

/**
 * Books equal the chain: transfers nobody claimed, postings without a transfer, transfers reported or posted twice, among
 * sales and with one of three endpoints lying. `count` is faults put in, one after the other.
 */
export const proveBooksEqualChain: Proof = async ({ count, say }) => {
  const world = await openReconciledTill()
  const faults = createFaults()
  const dice = createDice(Date.now() % 1_000_000)
  const progress = createProgress(say, count, 'faults found')
  const put = new Map<string, number>()
  const found = new Map<number, number>()
  try {
    await world.reconcile()
    let last: ReconcileReport | undefined
    for (let index = 0; index < count; index += 1) {
      const [what, inject] = kinds[index % kinds.length] as (typeof kinds)[number]
      if (dice.below(2) === 0) await world.sell()
      const cycles = await findOne(world, inject, BigInt(1_000 + index), dice)
      put.set(what, (put.get(what) ?? 0) + 1)
      found.set(cycles, (found.get(cycles) ?? 0) + 1)
      if (cycles > cyclesAllowed) faults.note(`${what} (${inject.name}) was not found within ${cycles - 1} cycles`)
      last = await checkEven(world, `${what} (${inject.name})`, faults)
      progress(index + 1)
    }
    for (const fault of await faultsInBooks(world.till.db.owner)) faults.note(fault)
    const details = [...put].map(([what, n]) => `${plain(n)} ${what}`).join(', ')
    const cycles = [...found].sort(([a], [b]) => a - b).map(([n, times]) => `${plain(times)} in cycle ${n}`)
    return {
      seen: `${plain(count)} put in (${details}), found: ${cycles.join(', ')}; difference at the end ${last?.differenceMicro ?? 'not read'}`,
      faults: faults.all(),
    }
  } finally {
    await world.close()
  }
}

/** The cycle in which it was found; one more than were tried when it was not. */
async function findOne(world: ReconciledTill, inject: Inject, micro: bigint, dice: Dice): Promise<number> {
  const trouble = dice.pick(payoutFaults)
  const { control } = world.till.base
  world.alter(lieOf(dice))
  if (trouble === 'late') control.setFinalityLag(2)
  const injected = await inject(world, micro)
  world.alarms()
  try {
    for (let cycle = 1; cycle <= cyclesMax; cycle += 1) {
      const report = await world.reconcile(cycle === 1 && trouble === 'unread')
      if (report && (await injected.found(report))) return cycle
      await control.mine(2)
    }
    return cyclesMax + 1
  } finally {
    control.setFinalityLag(0)
    world.alter((logs) => logs)
    await injected.repair?.()
  }
}

async function checkEven(world: ReconciledTill, after: string, faults: Faults): Promise<ReconcileReport | undefined> {
  const report = await world.reconcile()
  if (report?.differenceMicro !== 0n) faults.note(`after ${after} the difference is ${report?.differenceMicro}`)
  return report
}

/** One endpoint of three leaves transfers out, tells them twice or makes them larger; two still agree. */
function lieOf(dice: Dice): AlterLogs {
  const liar = dice.below(endpoints)
  const lie = dice.pick<AlterLogs>([
    (logs) => logs,
    () => [],
    (logs) => [...logs, ...logs],
    (logs) => logs.map((log) => ({ ...log, data: `0x${'f'.repeat(8).padStart(64, '0')}` })),
  ])
  return (logs, endpoint) => (endpoint === liar ? lie(logs, endpoint) : logs)
}

async function reviewsOf({ till }: ReconciledTill, transaction: string): Promise<number> {
  const { rows } = await till.db.owner.query(
    `select 1 from transfer where transaction = decode(substr($1, 3), 'hex') and posted_as = 'review'`,
    [transaction],
  )
  return rows.length
}

async function plainTransfer(world: ReconciledTill, micro: bigint): Promise<Injected> {
  const transaction = await world.transfer('creator', world.till.node.config.payTo, micro)
  return { found: async () => (await reviewsOf(world, transaction)) === 1 }
}

async function transferReportedTwice(world: ReconciledTill, micro: bigint): Promise<Injected> {
  world.alter((logs) => [...logs, ...logs])
  const transaction = await world.transfer('creator', world.till.node.config.payTo, micro)
  return {
    found: async ({ differenceMicro }) => differenceMicro === 0n && (await reviewsOf(world, transaction)) === 1,
  }
}

async function unclaimedAuthorization(world: ReconciledTill, micro: bigint): Promise<Injected> {
  const { till } = world
  const payer = await till.newBuyer()
  const offer = await quote(`${till.node.url}${echoPath}`)
  await submitAuthorization(till.base, await signPayment(payer, offer, { value: micro }))
  const account = `credit:${payer.address.toLowerCase()}@${network}`
  return { found: async () => (await balanceOf(world, account)) === -micro }
}

async function withdrawal(world: ReconciledTill, micro: bigint): Promise<Injected> {
  const account = `operator:usdc@${network}`
  const before = await balanceOf(world, account)
  await world.transfer('operator', demoAccount('creator').address, micro)
  return { found: async () => (await balanceOf(world, account)) - before === micro }
}

async function balanceOf({ till }: ReconciledTill, account: string): Promise<bigint> {
  const { rows } = await till.db.owner.query<{ micro: bigint }>(
    `select coalesce(sum(e.amount_micro), 0)::bigint as micro from ledger_entry e
     join ledger_account a on a.id = e.account_id where a.name = $1`,
    [account],
  )
  return rows[0]?.micro ?? 0n
}

/** A sale in the books that nobody paid for. */
async function postingWithoutTransfer(world: ReconciledTill, micro: bigint): Promise<Injected> {
  return postUnpaid(world, `invented:${micro}`, micro)
}

/** The newest sale once more, under another name. */
async function salePostedTwice(world: ReconciledTill, micro: bigint): Promise<Injected> {
  await world.sell()
  const { rows } = await world.till.db.owner.query<{ amount_micro: bigint }>(
    `select amount_micro from payment where state = 'served' order by claimed_at desc limit 1`,
  )
  return postUnpaid(world, `again:${micro}`, rows[0]?.amount_micro ?? 0n)
}

/** The database refuses it; the owner of its tables can put it in all the same, and then it is found. */
async function postUnpaid({ till, alarms }: ReconciledTill, reference: string, micro: bigint): Promise<Injected> {
  const lines = [
    { account: accounts.onchain(network, 'pay_to'), amount: micro },
    { account: accounts.revenue(network, 'sandbox.echo.get'), amount: -micro },
  ]
  const postings = [{ reference, kind: 'sale', lines }]
  const isRefused = await post(till.db.database, postings).then(
    () => false,
    (error: unknown) => error instanceof LedgerRefused,
  )
  if (!isRefused) throw new Error('a posting that moves money without a transfer was accepted')
  await withoutRule(till.db.owner, (tx) => post(tx, postings))
  return {
    found: async ({ differenceMicro }) => differenceMicro === -micro && alarms() > 0,
    repair: () => withoutRule(till.db.owner, (tx) => reverse(tx, reference, 'posted without money')),
  }
}

const withoutRule = (owner: Database, work: (tx: Tx) => Promise<unknown>): Promise<void> =>
  owner.transaction(async (tx) => {
    await tx.query('alter table ledger_entry disable trigger ledger_entry_moved')
    await work(tx)
    await tx.query('alter table ledger_entry enable trigger ledger_entry_moved')
  })
