import { expect, test } from 'vitest'
import { ChainUnreadable } from '../chain/index.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { createExactScheme } from '../schemes/exact/index.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { sampleClaim } from './claim.fixture.ts'
import { answerSpentPayment } from './credit-payment.ts'
import type { GateDeps } from './gate-deps.ts'
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
