import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChainPort } from '../chain/index.ts'
import { silentLog } from '../kernel/log.ts'
import { silentMetrics } from '../kernel/metrics.ts'
import { openTestDatabase, type TestDatabase } from '../store/testing.ts'
import { type FinalityDeps, watchFinality } from './watch-finality.ts'

const network = 'eip155:8453'
const transaction = `0x${'7'.repeat(64)}`
let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

const placesOf = async () => {
  const { rows } = await db.owner.query<{ id: string; block_hash: string; log_index: number; final: boolean }>(
    'select id, block_hash, log_index, final from payment order by id',
  )
  return rows.map(({ id, block_hash, log_index, final }) => `${id} ${block_hash} ${log_index} ${final}`)
}

/** One transaction carries them all; the chain says where their transfers are now. */
function chainWith(block: { number: bigint; hash: string }, logIndexOf: (nonce: string) => number): ChainPort {
  return {
    network: { caip2: network },
    finalizedBlock: async () => ({ ...block, timestamp: 0 }),
    blockHash: async () => block.hash,
    settlementByTransaction: async (_hash: string, { nonce }: { nonce: string }) => ({
      status: 'confirmed',
      transaction,
      blockNumber: block.number,
      blockHash: block.hash,
      logIndex: logIndexOf(nonce),
      gasGwei: 0n,
    }),
  } as unknown as ChainPort
}

test('payments of one transaction whose logs are numbered anew in another block follow it and become final', async () => {
  await db.owner.query(
    `insert into payment (id, state, network, asset, payer, nonce, pay_to, payee, amount_micro, valid_before, route_id,
       resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, transaction, block_number, block_hash, log_index)
     select 'pay_' || n, 'served', $1, $2, $2, decode(lpad(to_hex(n), 64, '0'), 'hex'), $2, 'pay_to', 1000, 0, 'x', '',
       sha256(n::text::bytea), false, 0, now(), now(), 1, $3, 10, 'old', n from generate_series(0, 3) n`,
    [network, `0x${'a'.repeat(40)}`, transaction],
  )
  const watch = (chain: ChainPort) =>
    watchFinality({
      database: db.database,
      chains: new Map([[network, chain]]),
      log: silentLog,
      metrics: silentMetrics,
      reversalHooks: [],
    } as unknown as FinalityDeps)
  // Another log stands before theirs: each takes the number that was its neighbour's.
  const moved = chainWith({ number: 10n, hash: 'new' }, (nonce) => Number(BigInt(nonce)) + 1)
  await watch(moved)
  expect(await placesOf()).toEqual(['pay_0 new 1 false', 'pay_1 new 2 false', 'pay_2 new 3 false', 'pay_3 new 4 false'])
  // And once more, the other way round.
  await watch(chainWith({ number: 10n, hash: 'newer' }, (nonce) => 4 - Number(BigInt(nonce))))
  expect(await placesOf()).toEqual([
    'pay_0 newer 4 false',
    'pay_1 newer 3 false',
    'pay_2 newer 2 false',
    'pay_3 newer 1 false',
  ])
  await watch(chainWith({ number: 10n, hash: 'newer' }, () => 0))
  expect((await placesOf()).every((place) => place.endsWith('true'))).toBe(true)
})
