import { expect, test } from 'vitest'
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

const answer = async () => {
  const outcome = await answerSpentPayment(deps, purchase, claim)
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
