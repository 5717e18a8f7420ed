import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { type PaymentRecord, paymentColumns, toPaymentRecord } from '../contract/payment-record.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { accounts, balanceOf, owedTo, post } from '../ledger/index.ts'
import { recordRestore } from '../store/restore.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import type { Confirmed } from '../transitions/settlement-result.ts'
import { creditPayment } from './credit-payment.ts'

const network = 'eip155:8453'
const db = await useTestDatabase()

const evidenceAt = (position: number): Confirmed => ({
  status: 'confirmed',
  transaction: `0x${'1'.repeat(64)}`,
  blockNumber: 10n,
  blockHash: `0x${'2'.repeat(64)}`,
  position,
  gasGwei: 0n,
})
const deps = () => ({ database: db.database, clock: systemClock })

/** Paid and posted; its answer waits for a final block. */
async function held(id: string, payer: Address): Promise<PaymentRecord> {
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block, settled_at)
     values ('exact', 500, $1::text, 'settled', $2::text, $2::text || '/erc20:0xa', $3, sha256(convert_to($1::text, 'UTF8')), 'us', 'custody', 500, 0, 'test', '',
       sha256(convert_to($1::text, 'UTF8')), false, 0, now(), now(), 1, now())`,
    [id, network, payer],
  )
  await db.database.transaction((tx) =>
    post(tx, [
      {
        reference: `hold:${id}`,
        kind: 'opening',
        paymentId: id,
        lines: [
          { account: accounts.onchain(network, 'custody'), amount: 500n },
          { account: accounts.clearingPayments(network), amount: -500n },
        ],
      },
    ]),
  )
  const { rows } = await db.owner.query(`select ${paymentColumns} from payment where id = $1`, [id])
  return toPaymentRecord(rows[0] as Record<string, unknown>)
}

const rowOf = async (id: string) =>
  (await db.owner.query('select state, reason, final from payment where id = $1', [id])).rows[0]

test('a held payment whose effect keeps failing was credited after a restore, though its answer may have been delivered before it', async () => {
  const before: Address = `0x${'7'.repeat(40)}`
  const lost = await held('pay_before', before)
  await recordRestore(
    db.database,
    { clock: systemClock, log: silentLog, metrics: silentMetrics },
    {
      network,
      untilBlock: 20n,
      reason: 'test',
    },
  )
  const after: Address = `0x${'8'.repeat(40)}`
  const known = await held('pay_after', after)

  for (let again = 0; again < 2; again++) {
    await creditPayment(deps(), lost, evidenceAt(0), 'effect_failed')
    await creditPayment(deps(), known, evidenceAt(1), 'effect_failed')
  }

  expect(await owedTo(db.database, accounts.credit(network, before))).toBe(0n)
  expect(await balanceOf(db.database, accounts.restoreGap(network, 'custody'))).toBe(-500n)
  expect(await rowOf('pay_before')).toMatchObject({ state: 'failed', final: true })
  expect(await owedTo(db.database, accounts.credit(network, after))).toBe(500n)
  expect(await rowOf('pay_after')).toMatchObject({ state: 'credited' })
  expect(await balanceOf(db.database, accounts.clearingPayments(network))).toBe(0n)
})
