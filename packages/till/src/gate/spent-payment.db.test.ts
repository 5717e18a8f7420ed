import { expect, test } from 'vitest'
import { ChainUnreadable } from '../chain/index.ts'
import type { PaidCall } from '../contract/paid-call.ts'
import type { PaymentEnvelope } from '../contract/scheme.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { createExactScheme } from '../schemes/exact/index.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { sampleClaim } from './claim.fixture.ts'
import { answerSpentPayment } from './credit-payment.ts'
import type { GateDeps } from './gate-deps.ts'
import { passEnvelope } from './pass-payment.ts'
import type { Purchase } from './purchase.ts'

const db = await useTestDatabase()
const claim = sampleClaim(1)
const { network } = claim
const usedInBlock = 90n

const deps = {
  database: db.database,
  isOurs: () => true,
  statusUrl: (id: string) => id,
  challenges: { headers: () => ({}) },
  metrics: silentMetrics,
} as unknown as GateDeps

/** A key that is used, while the one endpoint that searches for its use finds nothing. */
const purchase = {
  chain: { finalizedBlock: async () => ({ number: 100n }) },
  call: { route: { id: 'test' } },
  scheme: {
    ...createExactScheme([]),
    evidence: {
      useOf: async () => ({ status: 'absent' }),
      isUsed: async (_: unknown, __: unknown, at: bigint) => at >= usedInBlock,
    },
  },
} as unknown as Purchase

const answer = async (of = purchase) => {
  const outcome = await answerSpentPayment(deps, of, claim)
  return outcome.kind === 'refused' ? outcome.problem.code : outcome.kind
}

test('a spent payment is not asked for again before every transfer up to its use has its row: it may have paid us', async () => {
  expect(await answer()).toBe('settlement_unknown')
  await db.owner.query(
    `insert into reconcile_cursor (network, address, block_number, onchain_micro, checked_at) values ($1, $2, 89, 0, now())`,
    [network, claim.payTo],
  )
  expect(await answer()).toBe('settlement_unknown')
  await db.owner.query('update reconcile_cursor set block_number = 95')
  expect(await answer()).toBe('payment_failed')
})

test('a spent payment whose use cannot be read to its end is not known yet, and never an error', async () => {
  const unreadable = async () => {
    throw new ChainUnreadable('no endpoint answered')
  }
  const chain = { finalizedBlock: unreadable }
  const canceled = { useOf: async () => ({ status: 'canceled', blockNumber: usedInBlock, blockHash: '0x' }) }
  const long = { ...purchase.scheme.evidence, isUsed: unreadable }
  for (const evidence of [canceled, long])
    expect(await answer({ ...purchase, chain, scheme: { ...purchase.scheme, evidence } } as unknown as Purchase)).toBe(
      'settlement_unknown',
    )
})

test('a payment that does not fit any more is asked for again only once its key was used for nothing in a final block', async () => {
  const answered = async (use: object, finalizedBlock: () => Promise<object>) => {
    const scheme = {
      ...purchase.scheme,
      decode: () => ({ status: 'ok', payment: { ...claim, envelope: {} } }),
      checkSignature: async () => ({ status: 'valid', by: 'key', digest: claim.signedDigest }),
      evidence: { useOf: async () => use, isUsed: async () => true },
    }
    const chain = { finalizedBlock, blockHash: async () => '0x', head: async () => ({ number: 9_000n }) }
    const given = {
      ...deps,
      chains: new Map([[network, chain]]),
      schemes: { all: [scheme], entitled: new Map(), named: () => [scheme] },
      termsOf: () => [{ payTo: claim.payTo }],
    } as unknown as GateDeps
    const parts = { method: 'GET', resourceUrl: claim.resource, representation: '', bodyDigest: Buffer.alloc(32) }
    const call = { ...purchase.call, ...parts, headers: new Map() } as unknown as PaidCall
    const stale = { status: 'invalid', reason: 'too_late', detail: 'Its time has passed.' } as const
    const outcome = await passEnvelope(given, call, { scheme: 'exact', network } as PaymentEnvelope, stale)
    return outcome.kind === 'refused' ? outcome.problem.code : outcome.kind
  }
  const canceled = { status: 'canceled', blockNumber: usedInBlock, blockHash: '0x' }
  const finalAt = (number: bigint) => async () => ({ number })
  expect(await answered(canceled, finalAt(100n))).toBe('payment_invalid')
  expect(await answered(canceled, finalAt(80n))).toBe('settlement_unknown')
  const unreadable = () => Promise.reject(new ChainUnreadable('no endpoint answered'))
  expect(await answered(canceled, unreadable)).toBe('settlement_unknown')
  expect(await answered({ status: 'could_not_read', reason: 'test' }, finalAt(100n))).toBe('settlement_unknown')
  // Every transfer that this database knows of is recorded, and those before it are not.
  expect(await answered({ status: 'absent' }, finalAt(100n))).toBe('settlement_unknown')
})
