import type { Address } from '@assay/protocol/address'
import { beforeEach, expect, test } from 'vitest'
import type { Sale } from '../contract/paid-call.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { accounts, owedTo, post } from '../ledger/index.ts'
import { recordRestore } from '../store/restore.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { creditUndelivered } from './credit-undelivered.ts'

const network = 'eip155:8453'
const payer: Address = `0x${'7'.repeat(40)}`
const db = await useTestDatabase()
beforeEach(() => db.owner.query('delete from payment'))

const reversed: string[] = []
const run = () =>
  creditUndelivered({
    database: db.database,
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
    reversalHooks: [
      async (_tx, sale: Sale) => {
        reversed.push(sale.paymentId)
      },
    ],
  })

let numbers = 0

async function sold(more: {
  hoursAgo: number
  delivered?: boolean
  final?: boolean
  micro?: bigint
  effect?: boolean
}): Promise<string> {
  const micro = more.micro ?? 500n
  numbers += 1
  const id = `pay_${numbers}`
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block, final, settled_at, delivered_at, had_effect)
     values ('exact', 500, $1::text, 'served', $2::text, $2::text || '/erc20:0xa', $3, sha256(convert_to($1::text, 'UTF8')), 'us', 'pay_to', $7, 0, 'test', '',
       sha256(convert_to($1::text, 'UTF8')), false, 0, now(), now(), 1, $4, now() - $5::integer * interval '1 hour',
       case when $6::boolean then now() end, $8)`,
    [id, network, payer, more.final ?? true, more.hoursAgo, more.delivered ?? false, micro, more.effect ?? false],
  )
  if (micro === 0n) return id
  await db.database.transaction((tx) =>
    post(tx, [
      {
        reference: `sale:${id}`,
        kind: 'opening',
        paymentId: id,
        lines: [
          { account: accounts.onchain(network, 'pay_to'), amount: 500n },
          { account: accounts.revenue(network, 'test'), amount: -500n },
        ],
      },
    ]),
  )
  return id
}

const stateOf = async (id: string) =>
  (await db.owner.query('select state, reason from payment where id = $1', [id])).rows[0]
const credit = () => owedTo(db.database, accounts.credit(network, payer))

test('an undelivered answer had no age limit: after a day its price is credit, once, and its shares are reversed', async () => {
  const old = await sold({ hoursAgo: 25 })
  const others = [
    await sold({ hoursAgo: 23 }),
    await sold({ hoursAgo: 25, delivered: true }),
    await sold({ hoursAgo: 25, final: false }),
  ]
  await run()
  await run()
  expect(await stateOf(old)).toEqual({ state: 'credited', reason: 'undelivered' })
  for (const id of others) expect(await stateOf(id)).toMatchObject({ state: 'served' })
  expect(await credit()).toBe(500n)
  expect(reversed).toEqual([old])
})

test('an answer sold before a restore may have been delivered after the backup: it is not credited as well', async () => {
  const before = await credit()
  const id = await sold({ hoursAgo: 25 })
  const deps = { clock: systemClock, log: silentLog, metrics: silentMetrics }
  await recordRestore(db.database, deps, { network, untilBlock: 1n, reason: 'test' })
  const after = await sold({ hoursAgo: 25 })
  await run()
  expect(await stateOf(id)).toMatchObject({ state: 'served' })
  expect(await stateOf(after)).toMatchObject({ state: 'credited' })
  expect(await credit()).toBe(before + 500n)
  await db.owner.query('delete from restore_gap')
})

test('a sale with an effect keeps it, and is not checked again, in a process that does not know its route either', async () => {
  const before = await credit()
  const id = await sold({ hoursAgo: 25, effect: true })
  await run()
  await run()
  expect(await stateOf(id)).toMatchObject({ state: 'served' })
  expect(await credit()).toBe(before)
})

test('an answer that cost nothing brings no credit, and is not checked for ever', async () => {
  const [free, before] = [await sold({ hoursAgo: 25, micro: 0n }), await credit()]
  reversed.splice(0)
  await run()
  expect(await stateOf(free)).toMatchObject({ state: 'served' })
  expect([await credit(), reversed]).toEqual([before, []])
  const open = await db.owner.query('select from payment where id = $1 and delivered_at is null', [free])
  expect(open.rowCount).toBe(0)
})
