import fc from 'fast-check'
import { expect, test } from 'vitest'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { externalAccount } from './accounts.fixture.ts'
import {
  accounts,
  balanceDifferences,
  balanceOf,
  credit,
  debit,
  InsufficientBalance,
  type LedgerTransaction,
  post,
  trialBalance,
} from './index.ts'

const networks = ['eip155:8453', 'eip155:137']
const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const

const db = await useTestDatabase({ poolSize: 12 })

type Command = { kind: 'earn' | 'spend' | 'share'; network: number; owner: number; amount: bigint }

const anyCommand: fc.Arbitrary<Command> = fc.record({
  kind: fc.constantFrom('earn', 'spend', 'share'),
  network: fc.nat({ max: 1 }),
  owner: fc.nat({ max: 5 }),
  amount: fc.bigInt({ min: 1n, max: 1_000n }),
})

function toTransaction(command: Command, reference: string): LedgerTransaction {
  const network = networks[command.network] as string
  const owed = accounts.credit(network, wallet(command.owner))
  const onchain = externalAccount(network)
  const { amount } = command
  if (command.kind === 'earn') return { reference, kind: 'earn', lines: [debit(onchain, amount), credit(owed, amount)] }
  if (command.kind === 'spend') {
    return { reference, kind: 'spend', lines: [debit(owed, amount), credit(accounts.revenue(network, 'x'), amount)] }
  }
  const share = accounts.payable(network, wallet(command.owner + 1), 'creator')
  const fee = amount / 10n
  const rest = [credit(share, amount - fee), ...(fee > 0n ? [credit(accounts.revenue(network, 'cite'), fee)] : [])]
  return { reference, kind: 'share', lines: [debit(onchain, amount), ...rest] }
}

const assertBooks = async () => {
  const { rows, sumByUnit } = await trialBalance(db.database)
  for (const [unit, sum] of Object.entries(sumByUnit)) expect(sum, unit).toBe(0n)
  for (const row of rows) {
    if (row.kind === 'liability') expect(row.balanceMicro, row.name).toBeLessThanOrEqual(0n)
    expect(await balanceOf(db.database, row), row.name).toBe(row.balanceMicro)
  }
  expect(await balanceDifferences(db.database)).toEqual([])
}

let round = 0

test('L30: any postings, one after another, leave books that a simple model agrees with', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyCommand, { maxLength: 25 }), async (commands) => {
      round += 1
      const model = new Map<string, bigint>()
      const before = new Map((await trialBalance(db.database)).rows.map((row) => [row.name, row.balanceMicro]))
      for (const [index, command] of commands.entries()) {
        const transaction = toTransaction(command, `serial:${round}:${index}`)
        const after = transaction.lines.map(({ account, amount }) => ({
          account,
          next: (model.get(account.name) ?? before.get(account.name) ?? 0n) + amount,
        }))
        const isAllowed = after.every(({ account, next }) => !account.guarded || next <= 0n)
        const outcome = await post(db.database, [transaction]).then(
          () => true,
          (error: unknown) => {
            expect(error).toBeInstanceOf(InsufficientBalance)
            return false
          },
        )
        expect(outcome).toBe(isAllowed)
        if (isAllowed) for (const { account, next } of after) model.set(account.name, next)
      }
      for (const [name, balance] of model) expect(await balanceOf(db.database, { name })).toBe(balance)
    }),
    { numRuns: 25 },
  )
  await assertBooks()
})

test('L30: batches from many connections, repeated and killed at random, keep cache and sum of entries equal', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyCommand, { minLength: 1, maxLength: 12 }), { minLength: 4, maxLength: 12 }),
      fc.nat({ max: 10 }),
      async (batches, killAfterMs) => {
        round += 1
        const name = `batch:${round}`
        // Each batch is sent twice at once: the second copy must change nothing.
        const work = [...batches.entries(), ...batches.entries()].map(([index, commands]) =>
          post(
            db.database,
            commands.map((command, line) => toTransaction(command, `${name}:${index}:${line}`)),
          ),
        )
        const killing = new Promise((resolve) => setTimeout(resolve, killAfterMs)).then(() =>
          db.owner.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and state = 'active' and pid <> pg_backend_pid() limit 1`,
          ),
        )
        await Promise.allSettled([...work, killing])
      },
    ),
    { numRuns: 15 },
  )
  const { rows } = await db.database.query<{ broken: bigint }>(
    `select count(*) as broken from (
       select split_part(reference, ':', 3) as batch, split_part(reference, ':', 2) as run, count(*) as posted,
         max(split_part(reference, ':', 4)::int) + 1 as length
       from ledger_transaction where reference like 'batch:%' group by 1, 2) b where posted <> length`,
  )
  expect(rows[0]?.broken).toBe(0n)
  await assertBooks()
})
