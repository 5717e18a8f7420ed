import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { systemRng } from '../kernel/random.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { openDispute } from './dispute-payment.ts'

const network = 'eip155:8453'
const payer: Address = `0x${'7'.repeat(40)}`
const db = await useTestDatabase({ poolSize: 2 })
const deps = { database: db.database, clock: systemClock, ids: createIds(systemClock, systemRng) }

async function served(id: string, amountMicro: bigint): Promise<void> {
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id,
       resource, fingerprint, revocable, owner, lease_until, claimed_at, settled_at, head_block, final)
     values ('upto', 100, $1::text, 'served', $2::text, $2::text || '/erc20:0xa', $3, sha256($1::text::bytea), $3, 'pay_to', $4, 0, 'test.route', '', sha256('x'),
       false, 0, now(), now(), now(), 1, true)`,
    [id, network, payer, amountMicro],
  )
}

test('a payment that was charged is disputed once, one that cost nothing never: there is nothing to give back', async () => {
  await served('pay_free', 0n)
  await served('pay_one', 1n)
  const dispute = (paymentId: string) =>
    openDispute(deps, { address: payer, networks: [network] }, { paymentId, text: 'this answer is wrong' })
  expect(await dispute('pay_free')).toEqual({ status: 'refused', why: 'not_disputable' })
  expect(await dispute('pay_one')).toMatchObject({ status: 'opened' })
  expect(await dispute('pay_one')).toEqual({ status: 'refused', why: 'disputed_before' })
})
