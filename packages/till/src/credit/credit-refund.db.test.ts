import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { systemRng } from '../kernel/random.ts'
import { accounts, owedTo, post } from '../ledger/index.ts'
import { markReconciled, recordRestore } from '../store/restore.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { refundCredit } from './credit-refund.ts'

const network = 'eip155:8453'
const wallet: Address = `0x${'c1'.repeat(20)}`
const ids = createIds(systemClock, systemRng)
const db = await useTestDatabase()
await post(db.database, [
  {
    reference: 'opening:credit',
    kind: 'opening',
    lines: [
      { account: accounts.onchain(network, 'custody'), amount: 1_000n },
      { account: accounts.credit(network, wallet), amount: -1_000n },
    ],
  },
])

const refund = (amountMicro: bigint) =>
  db.database.transaction((tx) =>
    refundCredit(tx, {
      nextId: () => ids.next('po'),
      wallet,
      network,
      amountMicro,
      costMicro: 0n,
      approvalMicro: 1_000_000n,
      nowMs: systemClock.nowMs(),
    }),
  )
const credit = () => owedTo(db.database, accounts.credit(network, wallet))

test('credit refunds are off until a restore is reconciled', async () => {
  const deps = { clock: systemClock, log: silentLog, metrics: silentMetrics }
  await recordRestore(db.database, deps, { network, untilBlock: 5n, reason: 'test' })
  await expect(refund(100n)).rejects.toThrow('off until the books were compared with the chain')
  expect(await credit()).toBe(1_000n)
  await markReconciled(db.database, network, 5n)
  expect(await refund(100n)).toMatchObject([{ paidMicro: 100n }])
})

test('a wallet has one credit refund on its way, counted by wallet and n', async () => {
  await expect(refund(100n)).rejects.toThrow('is being paid')
  expect(await credit()).toBe(900n)
  const { rows } = await db.database.query('select account, n, state from payout')
  expect(rows).toEqual([{ account: wallet, n: 0n, state: 'queued' }])
})
