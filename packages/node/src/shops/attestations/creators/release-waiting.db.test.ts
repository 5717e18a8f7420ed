import type { Address } from '@assay/protocol/address'
import { reversalLines } from '@assay/till/gate/reversal-lines'
import { systemClock } from '@assay/till/kernel/clock'
import { accounts, balanceOf, mergeLines, owedTo, post } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { creatorAccounts } from '../accounts.ts'
import { type Accrual, accrueAll, shardOf } from './accrue.ts'
import { readCreatorBooks } from './check-books.ts'
import type { CreatorDeps } from './deps.ts'
import { expireWaiting, releaseWaiting } from './release-waiting.ts'

const db = await useTestDatabase()

const network = 'eip155:8453'
const wallet: Address = `0x${'42'.repeat(20)}`
const payer: Address = `0x${'43'.repeat(20)}`

const deps = () =>
  ({
    database: db.database,
    clock: systemClock,
    settings: { releaseMs: 7 * 86_400_000, waitMs: 180 * 86_400_000 },
    challengeMs: 7 * 86_400_000,
  }) as unknown as CreatorDeps

async function prove(domain: string, method: 'dns' | 'file'): Promise<void> {
  await db.owner.query(
    `insert into source (domain, registrable, display, origin, state, registered_at, updated_at)
     values ($1, $1, $1, 'http://' || $1, 'proven', now(), now())`,
    [domain],
  )
  await db.owner.query(
    `insert into source_claim (id, domain, wallet, kind, token, token_expires_at, state, method, proven_at, wallet_proven_at,
       created_at, next_check_at)
     values ('clm_' || $1, $1, $2, 'claim', repeat('a', 43), now(), 'proven', $3, now() - interval '8 days',
       now() - interval '8 days', now(), now() + interval '9 years')`,
    [domain, wallet, method],
  )
  await db.owner.query(`update source set proven_claim = 'clm_' || $1 where domain = $1`, [domain])
}

async function cite(hosts: readonly { domain: string; registrable: string }[]): Promise<void> {
  const accruals = hosts.map(
    ({ domain, registrable }): Accrual => ({
      sale: { paymentId: `pay_${domain}`, network, payer, round: 0, source: 'credit', settledAtMs: 0 },
      subject: `att_${domain}`,
      shares: [
        {
          payee: {
            domain,
            registrable,
            wallet: undefined,
            claimId: undefined,
            citeScore: null,
            synthetic: false,
            reason: 'not_proven',
          },
          micro: 4_500n,
          held: undefined,
        },
      ],
    }),
  )
  await db.database.transaction(async (tx) => {
    const lines = mergeLines((await accrueAll(tx, accruals)).flat())
    const taken = { account: accounts.clearingPayments(network), amount: 4_500n * BigInt(hosts.length) }
    const alone = hosts.length === 1 ? { paymentId: `pay_${hosts[0]?.domain}` } : {}
    await post(tx, [{ reference: `split:${hosts[0]?.domain}`, kind: 'split', ...alone, lines: [taken, ...lines] }])
  })
}

test('hosts that nobody proved do not keep others from being released, however many they are', async () => {
  await prove('crowded.test', 'file')
  await prove('zone.test', 'dns')
  const below = Array.from({ length: 210 }, (_, n) => ({ domain: `h${n}.crowded.test`, registrable: 'crowded.test' }))
  const proven = Array.from({ length: 205 }, (_, n) => ({ domain: `h${n}.zone.test`, registrable: 'zone.test' }))
  await cite(below)
  await cite([...proven, { domain: 'crowded.test', registrable: 'crowded.test' }])
  expect(await releaseWaiting(deps())).toBe(206)
  const books = await readCreatorBooks(db.database, network)
  expect(books).toMatchObject({ waitingRows: 210n * 4_500n, waitingLedger: 210n * 4_500n })
  expect(books).toMatchObject({ accruedRows: 206n * 4_500n, accruedLedger: 206n * 4_500n })
  expect(await releaseWaiting(deps())).toBe(0)
})

test('a creator who proves a domain that he cited before is held, and the citation is checked again', async () => {
  await prove('own.test', 'file')
  await cite([{ domain: 'own.test', registrable: 'own.test' }])
  await db.owner.query(
    `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, signature, attester,
       price_micro, checked_at, created_at)
     values ('att_own.test', 'citation', 'pay_own.test', $1, $2, $3, 'http://own.test/', 'own.test', 'own.test', decode(repeat('00', 65), 'hex'), '',
       5000, now(), now())`,
    [network, wallet, payer],
  )
  expect(await releaseWaiting(deps())).toBe(1)
  const { rows } = await db.database.query(
    `select c.held_reason as reason, c.held_until > now() + interval '6 days' as held, t.wash, t.checked_at
     from creator_accrual c join attestation t on t.id = c.subject where c.subject = 'att_own.test'`,
  )
  expect(rows).toEqual([{ reason: 'agent_is_creator', held: true, wash: ['agent_is_creator'], checked_at: null }])
})

test('shares that expire pay what their payer owes since a reorg, once for all of them', async () => {
  await cite(['a', 'b', 'c'].map((n) => ({ domain: `${n}.lost.test`, registrable: 'lost.test' })))
  const debt = accounts.receivable(network, payer, 'credit')
  const reorg = [
    { account: debt, amount: 6_000n },
    { account: accounts.clearingPayments(network), amount: -6_000n },
  ]
  await db.database.transaction((tx) => post(tx, [{ reference: 'reorg:test', kind: 'reorg', lines: reorg }]))
  const expired = await expireWaiting(deps())
  expect(expired).toBeGreaterThanOrEqual(3)
  expect(await balanceOf(db.database, debt)).toBe(0n)
  expect(await owedTo(db.database, accounts.credit(network, payer))).toBe(BigInt(expired) * 4_500n - 6_000n)
})

test('a payment refunded after its share was released or had expired is taken from the account that has the share by then', async () => {
  await prove('late.test', 'file')
  await cite([{ domain: 'late.test', registrable: 'late.test' }])
  // Another one waits in the same account of the books: it must stay whole.
  await cite([{ domain: 'other.late.test', registrable: 'late.test' }])
  expect(await releaseWaiting(deps())).toBe(1)
  const linesOf = (id: string) =>
    db.database.transaction((tx) => reversalLines(tx, { id, network, amountMicro: 4_500n }, 4_500n))
  const released = await linesOf('pay_late.test')
  expect(released.map(({ account }) => account.name.includes(wallet))).toEqual([true])
  const waiting = await linesOf('pay_other.late.test')
  expect(waiting.map(({ account }) => account.name)).toEqual([
    creatorAccounts.waiting(network, 'late.test', shardOf('pay_other.late.test')).name,
  ])
  await expireWaiting(deps())
  const expired = await linesOf('pay_other.late.test')
  expect(expired.map(({ account }) => account.name)).toEqual([accounts.credit(network, payer).name])
})
