import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { world } from '../chain/wallet/use-wallets.fixture.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { explainPayout, recordDifference, runPayouts, watchPayouts } from '../payouts/index.ts'
import { base, books, ids, owe, payouts, received, states, usePayouts } from '../payouts/payouts.fixture.ts'
import { schemes } from '../schemes/exact/schemes.fixture.ts'
import { type ReconcileDeps, reconcileBooks } from './reconcile.ts'

usePayouts()

const usd = 1_000_000n

async function compare(explainsOutbound: ReconcileDeps['explainsOutbound'] = []): Promise<bigint> {
  const { database } = world.store
  await world.store.owner.query(`update transfer set try_at = now() - interval '1 hour'`)
  const deps = { database, clock: systemClock, ids, log: silentLog, metrics: silentMetrics, schemes, explainsOutbound }
  const target = { chain: books.chain, payee: 'custody', address: books.custody.address } as const
  const [report] = await reconcileBooks(deps, [target])
  if (!report) throw new Error('nothing was compared')
  await recordDifference(database, { network: base, block: report.upToBlock, differenceMicro: report.differenceMicro })
  return report.differenceMicro
}

test('a payout that is mined and not posted yet is no difference; money that nobody sent is', async () => {
  const [payee] = books.payees as [Address]
  await owe(payee, 20n * usd)
  const before = await compare()
  await world.devnet.control.mine(5)
  world.devnet.control.setFinalityLag(3)
  await runPayouts(payouts())
  expect([await received(payee), await states()]).toMatchObject([20n * usd, [{ state: 'signed' }]])
  world.devnet.control.setFinalityLag(0)
  // Final on chain, and nothing has checked the payout since.
  expect((await compare([async () => true])) - before).toBe(0n)
  // Were it nobody's, it would be missing.
  expect((await compare()) - before).toBe(-20n * usd)
  const posted = await compare([async (row) => (await explainPayout(payouts(), books.chain, row)) === 'posted'])
  expect(posted - before).toBe(0n)
  await watchPayouts(payouts(), books.chain)
  expect((await compare()) - before).toBe(0n)
  const { rows } = await world.store.owner.query(`select posted_as as as from transfer where recipient = $1`, [payee])
  expect(rows).toEqual([{ as: 'payout' }])
})
