import { toHex } from '@assay/protocol/bytes'
import { smallerOf } from '@assay/protocol/money'
import { fromHex } from '../../kernel/bytes.ts'
import { type ChannelChain, type ChannelDeps, headOf } from './channel-deps.ts'
import { saveState } from './channel-store.ts'

const piecesMax = 50
/** The first channel may be older than the first read. */
const lookBackBlocks = 1_000n

/** Finds channels whose payer began to withdraw: they are claimed at once, and no vouchers of them are taken. */
export async function watchWithdrawals(deps: ChannelDeps, network: string, on: ChannelChain): Promise<void> {
  const { database } = deps
  const { rowCount } = await database.query(`select from channel where network = $1 limit 1`, [network])
  if (rowCount === 0) return
  const [final, head] = [(await on.chain.finalizedBlock()).number, await headOf(on)]
  const cursor = await database.query<{ block: bigint }>(
    `insert into channel_cursor (network, block_number) values ($1, $2)
     on conflict (network) do update set block_number = channel_cursor.block_number returning block_number as block`,
    [network, head > lookBackBlocks ? head - lookBackBlocks : 0n],
  )
  let from = (cursor.rows[0]?.block ?? head) + 1n
  for (let piece = 0; piece < piecesMax && from <= head; piece += 1) {
    const { channelIds, upTo } = await on.chain.channels.withdrawals(from, head)
    await refresh(deps, network, on, channelIds.map(fromHex))
    // Blocks that are not final are read again: a reorganisation may put a withdrawal into them.
    await database.query(`update channel_cursor set block_number = $2 where network = $1 and block_number < $2`, [
      ...[network, smallerOf(upTo, final)],
    ])
    from = upTo + 1n
  }
  // Until the withdrawal has ended in one way or another.
  const pending = await database.query<{ id: Buffer }>(
    `select id from channel where network = $1 and withdraw_started_at > 0 limit 200`,
    [network],
  )
  await refresh(
    deps,
    network,
    on,
    pending.rows.map(({ id }) => id),
  )
}

async function refresh(deps: ChannelDeps, network: string, on: ChannelChain, ids: readonly Buffer[]) {
  if (ids.length === 0) return
  const { rows } = await deps.database.query<{ id: Buffer }>(
    `select id from channel where network = $1 and id = any($2::bytea[])`,
    [network, ids],
  )
  const head = rows.length > 0 ? await headOf(on) : 0n
  for (const row of rows) {
    const key = { network, id: toHex(row.id) }
    await saveState(deps.database, key, await on.chain.channels.state(key.id, head))
    deps.cache.evict(key)
  }
}
