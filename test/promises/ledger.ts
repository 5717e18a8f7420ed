import { creatorAccounts } from '../../packages/node/src/shops/attestations/accounts.ts'
import {
  accounts,
  balanceDifferences,
  credit,
  debit,
  InsufficientBalance,
  type LedgerTransaction,
  post,
  trialBalance,
  verifySeals,
} from '../../packages/till/src/ledger/index.ts'
import { openTestDatabase, type TestDatabase } from '../../packages/till/src/store/testing.ts'
import { together } from '../harness/until.ts'
import { createDice, createFaults, createProgress, type Dice, type Faults, type Proof, plain } from './proof.ts'

const networks = ['eip155:8453', 'eip155:137']
const owners = Array.from({ length: 200 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, '0')}` as const)
const perBatch = 100
const atOnce = 6

/**
 * The books balance: random postings from many connections, one batch in ten sent twice, connections killed under them.
 * Each writer has its own owners and keeps their balances in memory; at the end cache, sum of entries and these agree.
 */
export const proveBooks: Proof = async ({ count, say }) => {
  const db = await openTestDatabase({ poolSize: atOnce + 2 })
  try {
    return await postMany(db, count, say)
  } finally {
    await db.close()
  }
}

type Writer = { dice: Dice; balances: Map<string, bigint>; owners: readonly `0x${string}`[] }
type Tally = { posted: number; refused: number; kills: number; sent: number }

async function postMany(db: TestDatabase, count: number, say: (text: string) => void) {
  const faults = createFaults()
  const tally: Tally = { posted: 0, refused: 0, kills: 0, sent: 0 }
  const progress = createProgress(say, count, 'commands')
  const writers = Array.from(
    { length: atOnce },
    (_, index): Writer => ({
      dice: createDice(index + 1),
      balances: new Map(),
      owners: owners.filter((_owner, at) => at % atOnce === index),
    }),
  )
  const killing = keepKilling(db, tally, Math.max(1, Math.ceil(count / 10_000)))
  await together(Math.ceil(count / perBatch), atOnce, async (index, worker) => {
    await postBatch(db, writers[worker] as Writer, index, tally, faults)
    progress(tally.sent)
  })
  killing.stop()
  await killing.ended
  say('  summing and comparing ...')
  await compare(db, writers, faults)
  return {
    seen: `${plain(tally.sent)} commands (${plain(tally.posted)} posted, ${plain(tally.refused)} refused for want of balance), ${tally.kills} connections killed: cache = sum of entries, every unit sums to 0, seals whole, ${faults.count()} differences`,
    faults: faults.all(),
  }
}

/** A batch is posted whole or not at all; what ended in doubt is asked of the books, as the node does. */
async function postBatch(db: TestDatabase, writer: Writer, index: number, tally: Tally, faults: Faults) {
  // One batch in fifteen spends without looking, and is mostly refused.
  const planned = writer.dice.below(15) === 0 ? undefined : new Map(writer.balances)
  const transactions = Array.from({ length: perBatch }, (_, line) => command(writer, `run:${index}:${line}`, planned))
  tally.sent += transactions.length
  const twice = writer.dice.below(10) === 0
  const attempt = () => post(db.database, transactions).then(() => 'posted' as const, whyNot)
  const outcomes = await Promise.all(twice ? [attempt(), attempt()] : [attempt()])
  const known = outcomes.find((outcome) => outcome !== 'inDoubt') ?? (await repeat(attempt))
  const after = new Map(writer.balances)
  for (const { lines } of transactions)
    for (const { account, amount } of lines) after.set(account.name, (after.get(account.name) ?? 0n) + amount)
  const isAllowed = allowed(writer, transactions)
  if ((known === 'posted') !== isAllowed)
    faults.note(`batch ${index} was ${known} and should${isAllowed ? '' : ' not'} be`)
  if (known === 'posted') {
    tally.posted += transactions.length
    writer.balances = after
  } else tally.refused += transactions.length
}

const whyNot = (error: unknown) => (error instanceof InsufficientBalance ? ('refused' as const) : ('inDoubt' as const))

async function repeat(attempt: () => Promise<'posted' | 'refused' | 'inDoubt'>): Promise<'posted' | 'refused'> {
  for (let tries = 0; tries < 50; tries += 1) {
    const outcome = await attempt()
    if (outcome !== 'inDoubt') return outcome
  }
  throw new Error('the database does not answer')
}

/** Guarded accounts are checked by what a whole batch leaves behind. */
function allowed(writer: Writer, transactions: readonly LedgerTransaction[]): boolean {
  const after = new Map<string, { amount: bigint; guarded: boolean }>()
  for (const { lines } of transactions)
    for (const { account, amount } of lines) {
      const known = after.get(account.name)?.amount ?? writer.balances.get(account.name) ?? 0n
      after.set(account.name, { amount: known + amount, guarded: account.guarded })
    }
  return [...after.values()].every(({ amount, guarded }) => !guarded || amount <= 0n)
}

function command(
  { dice, owners: own }: Writer,
  reference: string,
  planned: Map<string, bigint> | undefined,
): LedgerTransaction {
  const network = dice.pick(networks)
  const owner = dice.pick(own)
  const amount = BigInt(1 + dice.below(1_000))
  const onchain = creatorAccounts.distributor(network)
  const owed = accounts.credit(network, owner)
  const has = -(planned?.get(owed.name) ?? 0n)
  const kind = planned === undefined || has >= amount ? dice.below(10) : 0
  if (kind < 8) planned?.set(owed.name, kind < 5 ? -has - amount : amount - has)
  if (kind < 5) return { reference, kind: 'earn', lines: [debit(onchain, amount), credit(owed, amount)] }
  if (kind < 8)
    return { reference, kind: 'spend', lines: [debit(owed, amount), credit(accounts.revenue(network, 'x'), amount)] }
  const fee = amount / 10n
  const rest = [
    credit(accounts.payable(network, owner, 'creator'), amount - fee),
    ...(fee > 0n ? [credit(accounts.revenue(network, 'cite'), fee)] : []),
  ]
  return { reference, kind: 'share', lines: [debit(onchain, amount), ...rest] }
}

/** A connection dies under its transaction, again and again. */
function keepKilling(db: TestDatabase, tally: Tally, most: number) {
  let stopped = false
  const ended = (async () => {
    while (!stopped && tally.kills < most) {
      await new Promise((resolve) => setTimeout(resolve, 300))
      const { rowCount } = await db.owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and state = 'active' and pid <> pg_backend_pid() limit 1`,
      )
      tally.kills += rowCount ?? 0
    }
  })()
  return {
    ended,
    stop: () => {
      stopped = true
    },
  }
}

async function compare(db: TestDatabase, writers: readonly Writer[], faults: Faults): Promise<void> {
  const { rows, sumByUnit } = await trialBalance(db.database)
  for (const [unit, sum] of Object.entries(sumByUnit)) if (sum !== 0n) faults.note(`${unit} sums to ${sum}`)
  const different = await balanceDifferences(db.database)
  for (const { name, kept, fromEntries } of different)
    faults.note(`${name} is kept as ${kept} and its entries sum to ${fromEntries}`)
  const broken = await verifySeals(db.owner)
  if (broken) faults.note(`seal ${broken.seq}: ${broken.what}`)
  const expected = new Map<string, bigint>()
  for (const { balances } of writers)
    for (const [name, amount] of balances) expected.set(name, (expected.get(name) ?? 0n) + amount)
  for (const { name, kind, balanceMicro } of rows) {
    if ((expected.get(name) ?? 0n) !== balanceMicro)
      faults.note(`${name} is ${balanceMicro}, should be ${expected.get(name)}`)
    if (kind === 'liability' && balanceMicro > 0n) faults.note(`${name} is below zero`)
  }
}
