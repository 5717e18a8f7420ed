import type { Micro } from '@assay/protocol/money'
import type { Tx } from '@assay/till/store/database'
import type { OptionDeps } from './deps.ts'
import { lockSeries, writeEvents } from './series-store.ts'

type Ended = { id: string; symbol: string; quantity: number; premium_micro: Micro; vault_micro: Micro }

/**
 * Puts contracts that were not bought after all back into their offers: `released` when the money never came, `revoked`
 * when a reorg took it away. The vault's part becomes free again. Only positions still in `from` are touched.
 */
export async function returnContracts(
  deps: Pick<OptionDeps, 'clock'>,
  tx: Tx,
  positions: readonly { id: string; symbol: string }[],
  change: { from: 'held' | 'open'; to: 'released' | 'revoked' },
): Promise<Ended[]> {
  if (positions.length === 0) return []
  const nowMs = deps.clock.nowMs()
  await lockSeries(
    tx,
    positions.map(({ symbol }) => symbol),
  )
  const { rows: ended } = await tx.query<Ended>(
    `update option_position set state = $3, ended_at = $4 where id = any($1) and state = $2
     returning id, symbol, quantity, premium_micro, vault_micro`,
    [positions.map(({ id }) => id), change.from, change.to, new Date(nowMs)],
  )
  if (ended.length === 0) return []
  const ids = ended.map(({ id }) => id)
  // An offer that the writer closed meanwhile is open again with what came back, so that it can be withdrawn.
  await tx.query(
    `update option_order o set open_quantity = o.open_quantity + f.quantity, state = 'live'
     from (select order_id, sum(quantity)::integer as quantity from option_fill
           where position_id = any($1) and order_id is not null group by order_id) f where o.id = f.order_id`,
    [ids],
  )
  await tx.query(
    `update option_series s set seq = s.seq + d.changes, sold = s.sold - d.quantity
     from (select symbol, count(*) as changes, sum(quantity)::integer as quantity from option_position
           where id = any($1) group by symbol) d where s.symbol = d.symbol`,
    [ids],
  )
  const vaultMicro = ended.reduce((sum, { vault_micro }) => sum + vault_micro, 0n)
  if (vaultMicro > 0n) await tx.query(`update option_vault set used_micro = used_micro - $1`, [vaultMicro])
  await writeEvents(
    tx,
    ended.map(({ id, symbol, quantity }) => ({ symbol, kind: change.to, subject: id, quantity })),
    nowMs,
  )
  return ended
}

const perRunMax = 500

/**
 * Reservations whose time is over, or whose payment ended without moving money, go back to the book. A payment that
 * arrives later finds nothing to buy and is refunded.
 */
export async function releaseLapsed(deps: OptionDeps): Promise<number> {
  const { rows } = await deps.database.query<{ id: string; symbol: string }>(
    `select o.id, o.symbol from option_position o left join payment p on p.id = o.payment_id
       left join entitled_call c on c.id = o.payment_id
     where o.state = 'held' and (o.held_until <= $1 or p.state in ('released', 'failed') or c.state = 'released')
     order by o.held_until limit $2`,
    [new Date(deps.clock.nowMs()), perRunMax],
  )
  if (rows.length > 0)
    await deps.database.transaction((tx) => returnContracts(deps, tx, rows, { from: 'held', to: 'released' }))
  return rows.length
}
