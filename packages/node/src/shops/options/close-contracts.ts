import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import type { Sql, Tx } from '@assay/till/store/database'
import type { OptionDeps } from './deps.ts'
import { lowerMedian } from './domain/settlement-value.ts'
import { vaultBid } from './domain/vault-bid.ts'
import { finalValues, moneyIsFinal } from './final-money.ts'
import { crowdOf } from './list-series.ts'
import { payShares } from './pay-shares.ts'
import { valueSeries } from './price-series.ts'
import { optionProblems } from './problems.ts'
import { type ClusterIndex, readIndex } from './read-index.ts'
import { findSeries, isTraded, lockSeries, type Series, writeEvents } from './series-store.ts'
import { debtsOf } from './set-off-debts.ts'

type Held = { symbol: string; holder: Address; quantity: number; premium_micro: Micro; state: string; final: boolean }
/** Contracts of a position that one writer wrote, with the prices at which it did and at which the holder bought them. */
export type Part = {
  place: number
  order_id: string | null
  writer: Address
  quantity: number
  price_micro: Micro
  paid_micro: Micro
}

/** What one contract is worth by the model: at the index of now or at the median of a window, whichever is less. */
export function modelValue(deps: OptionDeps, series: Series, index: ClusterIndex | undefined): Micro | null {
  const { settings, clock } = deps
  const newest = index?.ticks.at(-1)
  if (!index || !newest || crowdOf(index, settings) === 0) return null
  const window = index.ticks.slice(-Math.ceil(settings.windowMs / settings.tickMs))
  const median = { ...newest, valueE4: lowerMedian(window.map(({ valueE4 }) => valueE4)) }
  const values = [newest, median].map((tick) => {
    const { price } = valueSeries(deps, series, { ticks: [tick] }, series.volatility, clock.nowMs())
    return BigInt(Math.floor(price * Number(series.sizeMicro)))
  })
  return smallerOf(smallerOf(values[0] as Micro, values[1] as Micro), series.capMicro)
}

export type Bid = { symbol: string; quantity: number; totalMicro: Micro; synthetic: boolean }

/** A bid of the vault for contracts of a position. Throws a Problem when there is none. */
export async function bidFor(deps: OptionDeps, positionId: string, wanted: number | undefined): Promise<Bid> {
  const held = await findPosition(deps, deps.database, positionId)
  const series = held && (await findSeries(deps.database, held.symbol))
  if (!held || !series) throw new Problem(optionProblems.position_unknown)
  requireClosable(deps, series, held)
  const parts = (await partsOf(deps.database, positionId)).filter(isVault)
  const available = count(parts)
  const quantity = wanted ?? available
  if (quantity === 0 || quantity > available) throw noBid(available)
  const [index] = await readIndex(deps.database, series.method, deps.settings.volatilityTicks, series.cluster)
  const value = modelValue(deps, series, index)
  if (value === null) throw noBid(0)
  const taken = take(parts, quantity)
  const totalMicro = vaultBid(value * BigInt(quantity), {
    writtenMicro: sum(taken, 'price_micro'),
    paidMicro: sum(taken, 'paid_micro'),
  })
  if (totalMicro === 0n) throw noBid(0)
  return { symbol: series.symbol, quantity, totalMicro, synthetic: series.synthetic }
}

export const noBid = (available: number) => new Problem(optionProblems.options_no_bid, { extra: { available } })

async function findPosition(deps: OptionDeps, sql: Sql, id: string, lock = ''): Promise<Held | undefined> {
  const { rows } = await sql.query<Held>(
    `select o.symbol, o.holder, o.quantity, o.premium_micro, o.state, ${moneyIsFinal('o.holder', 'o.opened_at')} as final
     from option_position o where o.id = $3 ${lock}`,
    [...finalValues(deps), id],
  )
  return rows[0]
}

function requireClosable(deps: OptionDeps, series: Series, held: Held): void {
  if (held.state !== 'open') throw new Problem(optionProblems.position_unknown, { detail: 'The position is not open.' })
  if (!isTraded(series, deps.clock.nowMs())) throw new Problem(optionProblems.series_closed)
  if (!held.final) throw new Problem(optionProblems.money_not_final, { retryAfterSeconds: 10 })
}

export async function partsOf(sql: Sql, positionId: string): Promise<Part[]> {
  const { rows } = await sql.query<Part>(
    `select place, order_id, writer, quantity, price_micro, paid_micro from option_fill
     where position_id = $1 and quantity > 0 order by place`,
    [positionId],
  )
  return rows
}

const isVault = ({ order_id }: Part): boolean => order_id === null
const count = (parts: readonly Part[]): number => parts.reduce((all, { quantity }) => all + quantity, 0)
const sum = (parts: readonly Part[], price: 'price_micro' | 'paid_micro'): Micro =>
  parts.reduce((all, part) => all + BigInt(part.quantity) * part[price], 0n)

/** The first contracts of these. */
function take(parts: readonly Part[], quantity: number): Part[] {
  const taken: Part[] = []
  let left = quantity
  for (const part of parts) {
    const some = Math.min(left, part.quantity)
    if (some > 0) taken.push({ ...part, quantity: some })
    left -= some
  }
  return taken
}

/** The position of this holder and its series, both locked, if it can be closed. Throws a Problem otherwise. */
export async function lockPosition(
  deps: OptionDeps,
  tx: Tx,
  { positionId, holder }: { positionId: string; holder: Address },
): Promise<{ held: Held; series: Series }> {
  const found = await findPosition(deps, tx, positionId)
  if (!found || found.holder !== holder) throw new Problem(optionProblems.position_unknown)
  const series = (await lockSeries(tx, [found.symbol])).get(found.symbol) as Series
  const held = (await findPosition(deps, tx, positionId, 'for update of o')) as Held
  requireClosable(deps, series, held)
  return { held, series }
}

type Taking = {
  id: string
  positionId: string
  capMicro: Micro
  taken: readonly Part[]
  paidMicro: Micro
  toVault: boolean
}

/** Contracts leave a position. An `id` does this once; false the second time. */
export async function takeFromPosition(deps: OptionDeps, tx: Tx, taking: Taking): Promise<boolean> {
  const { id, positionId, capMicro, taken, paidMicro, toVault } = taking
  const [quantity, premiumMicro, now] = [count(taken), sum(taken, 'paid_micro'), new Date(deps.clock.nowMs())]
  const { rowCount } = await tx.query(
    `insert into option_close (bid_id, to_vault, position_id, quantity, written_micro, premium_micro, paid_micro, closed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [id, toVault, positionId, quantity, sum(taken, 'price_micro'), premiumMicro, paidMicro, now],
  )
  if (rowCount === 0) return false
  for (const part of taken)
    await tx.query(`update option_fill set quantity = quantity - $3 where position_id = $1 and place = $2`, [
      positionId,
      part.place,
      part.quantity,
    ])
  await tx.query(
    `update option_position set quantity = quantity - $2, premium_micro = premium_micro - $3, vault_micro = vault_micro - $4,
       state = case when quantity = $2 then 'closed' else state end,
       ended_at = case when quantity = $2 then $5::timestamptz end where id = $1`,
    [positionId, quantity, premiumMicro, lockedByVault(taken, capMicro), now],
  )
  return true
}

/** The vault's own money behind contracts that it wrote. */
export function lockedByVault(parts: readonly Part[], capMicro: Micro): Micro {
  const own = parts.filter(isVault)
  return BigInt(count(own)) * capMicro - sum(own, 'price_micro')
}

export type Closing = { bidId: string; positionId: string; holder: Address; quantity: number; totalMicro: Micro }
/** `laterMicro` is paid when the series is settled, not when it is void. */
export type Closed = { symbol: string; quantity: number; left: number; paidMicro: Micro; laterMicro: Micro }

/** Ends contracts before their expiry: the bid goes to the holder, and what is then certainly the vault's back to it. */
export async function closeContracts(deps: OptionDeps, closing: Closing): Promise<Closed> {
  const { bidId, positionId, holder, quantity, totalMicro } = closing
  return deps.database.transaction(async (tx) => {
    const { held, series } = await lockPosition(deps, tx, closing)
    const { symbol, capMicro } = series
    const parts = (await partsOf(tx, positionId)).filter(isVault)
    const taken = take(parts, quantity)
    if (count(taken) < quantity) throw noBid(count(parts))
    const closed = { id: bidId, positionId, capMicro, taken, paidMicro: totalMicro, toVault: true }
    if (!(await takeFromPosition(deps, tx, closed)))
      throw new Problem(optionProblems.quote_stale, { detail: 'The bid was used.' })
    await tx.query(`update option_series set seq = seq + 1, sold = sold - $2 where symbol = $1`, [symbol, quantity])
    // In the order in which a settlement locks them.
    const debts = await debtsOf(deps, tx, [holder])
    const lockedMicro = lockedByVault(taken, capMicro)
    await tx.query(`update option_vault set used_micro = used_micro - $1`, [lockedMicro])
    const vaultMicro = BigInt(quantity) * capMicro - totalMicro
    await payShares(deps, tx, {
      id: bidId,
      series,
      debts,
      shares: [
        { wallet: holder, fixedMicro: totalMicro, voidMicro: sum(taken, 'paid_micro') },
        { wallet: deps.vaultWallet, fixedMicro: vaultMicro, voidMicro: lockedMicro },
      ],
      orderMicro: 0n,
    })
    await writeEvents(
      tx,
      [{ symbol, kind: 'closed', subject: positionId, quantity, priceMicro: totalMicro }],
      deps.clock.nowMs(),
    )
    return { symbol, quantity, left: held.quantity - quantity, paidMicro: totalMicro, laterMicro: 0n }
  })
}
