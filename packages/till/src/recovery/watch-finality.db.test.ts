import { toHex } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import type { ChainPort } from '../chain/index.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { schemes } from '../schemes/exact/schemes.fixture.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { type FinalityDeps, watchFinality } from './watch-finality.ts'

const network = 'eip155:8453'
const transaction = `0x${'7'.repeat(64)}`
const newHash = toHex(Buffer.from('new'))
const db = await useTestDatabase()

const placesOf = async () => {
  const { rows } = await db.owner.query<{ id: string; block_hash: string; log_position: number; final: boolean }>(
    `select id, encode(block_hash, 'escape') as block_hash, log_position, final from payment order by id`,
  )
  return rows.map(({ id, block_hash, log_position, final }) => `${id} ${block_hash} ${log_position} ${final}`)
}

/** One transaction carries them all; the chain says where their transfers are now. */
function chainWith(block: { number: bigint; hash: string }, positionOf: (nonce: string) => number): ChainPort {
  return {
    network: { caip2: network },
    finalizedBlock: async () => ({ ...block, timestamp: 0 }),
    blockHash: async () => block.hash,
    settlementByTransaction: async (_hash: string, { nonce }: { nonce: string }) => ({
      status: 'confirmed',
      transaction,
      blockNumber: block.number,
      blockHash: block.hash,
      position: positionOf(nonce),
      gasGwei: 0n,
    }),
  } as unknown as ChainPort
}

const asset = `0x${'a'.repeat(40)}`

async function openPayments(): Promise<void> {
  await db.owner.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id,
       resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, transaction, block_number, block_hash, log_position)
     select 'exact', 1000, 'pay_' || n, 'served', $1::text, $1::text || '/erc20:' || $2::text, $2, decode(lpad(to_hex(n), 64, '0'), 'hex'), $2, 'pay_to', 1000, 0, 'x', '',
       sha256(n::text::bytea), false, 0, now(), now(), 1, decode(substr($3, 3), 'hex'), 10, 'old', n from generate_series(0, 3) n`,
    [network, asset, transaction],
  )
  await db.owner.query(
    `insert into transfer (network, asset, transaction, position, sender, recipient, amount_micro, payment_key, block_number, block_hash,
       posted_as, posted_for)
     select network, asset, transaction, log_position, payer, pay_to, amount_micro, payment_key, block_number, block_hash, 'payment', id
     from payment`,
  )
}

const watch = (chain: ChainPort, changes: Partial<FinalityDeps> = {}) =>
  watchFinality({
    database: db.database,
    chains: new Map([[network, chain]]),
    schemes,
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
    reversalHooks: [],
    routeOf: () => undefined,
    ...changes,
  } as unknown as FinalityDeps)

test('payments whose transaction moved to another block follow it there, with their transfers, and become final', async () => {
  await openPayments()
  const inPlace = (nonce: string) => Number(BigInt(nonce))
  await watch(chainWith({ number: 10n, hash: newHash }, inPlace))
  expect(await placesOf()).toEqual(['pay_0 new 0 false', 'pay_1 new 1 false', 'pay_2 new 2 false', 'pay_3 new 3 false'])
  const { rows } = await db.owner.query(`select distinct encode(block_hash, 'escape') as block_hash from transfer`)
  expect(rows).toEqual([{ block_hash: 'new' }])
  await watch(chainWith({ number: 10n, hash: newHash }, inPlace))
  expect((await placesOf()).every((place) => place.endsWith('true'))).toBe(true)
})

test('watch-finality: one undo that throws does not stop the finality of the others', async () => {
  await db.owner.query(
    `update payment set final = false, block_hash = case id when 'pay_0' then 'gone'::bytea else 'new' end`,
  )
  // Its transfer is posted for somebody else, so it cannot be reversed.
  await db.owner.query(`update transfer set posted_for = 'another' where position = 0`)
  const lost = { ...chainWith({ number: 10n, hash: newHash }, () => 0) } as ChainPort
  lost.settlementByTransaction = async () => ({ status: 'absent' })
  await watch(lost)
  expect((await placesOf()).map((place) => place.split(' ').at(-1))).toEqual(['false', 'true', 'true', 'true'])
})

test('a payment that came back after a reorganisation has a final transfer, also where its block was recorded before', async () => {
  const finalOnes = async () => {
    const { rows } = await db.owner.query<{ position: number }>(
      'select position from transfer where final order by position',
    )
    return rows.map(({ position }) => position)
  }
  await db.owner.query('update transfer set final = false')
  await db.owner.query(
    `update payment set final = false, block_hash = 'new', reorgs = case id when 'pay_2' then 1 else 0 end`,
  )
  await watch(chainWith({ number: 10n, hash: newHash }, () => 0))
  // That of the others is said by the record of the chain alone.
  expect(await finalOnes()).toEqual([2])
})

test('a reorganised sale is undone by a process that can revoke what was bought, and by no other before a day', async () => {
  await db.owner.query(`update transfer set posted_for = 'pay_1' where position = 1`)
  await db.owner.query(
    `update payment set final = id <> 'pay_1', block_hash = 'gone', had_effect = true, claimed_at = now(), revocable = true`,
  )
  const lost = { ...chainWith({ number: 10n, hash: newHash }, () => 0) } as ChainPort
  lost.settlementByTransaction = async () => ({ status: 'absent' })
  const stateOf = async () => (await db.owner.query(`select state from payment where id = 'pay_1'`)).rows
  const alarms: unknown[] = []
  const metrics = { ...silentMetrics, count: (_name: string, labels?: object) => void alarms.push(labels) }
  await watch(lost, { routePatienceMs: 600_000, metrics })
  expect([await stateOf(), alarms]).toEqual([[{ state: 'served' }], [{ alarm: 'reorg_not_undone' }]])
  const revoked: string[] = []
  const route = { revoke: async (_tx: unknown, { paymentId }: { paymentId: string }) => void revoked.push(paymentId) }
  await watch(lost, { routePatienceMs: 600_000, routeOf: () => route as never })
  expect([await stateOf(), revoked]).toEqual([[{ state: 'unknown' }], ['pay_1']])
  alarms.length = 0
  await db.owner.query(`update payment set final = id <> 'pay_2', claimed_at = now() - interval '2 days'`)
  await watch(lost, { routePatienceMs: 600_000, metrics })
  expect(alarms).toEqual([{ alarm: 'effect_not_revoked' }, { alarm: 'reorg' }])
})
