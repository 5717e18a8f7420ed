import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import { accounts, post } from '@assay/till/ledger'
import type { Sql } from '@assay/till/store/database'
import { optionAccounts } from './accounts.ts'
import type { OptionDeps } from './deps.ts'
import { lowerMedian } from './domain/settlement-value.ts'
import { finalValues, moneyIsFinal } from './final-money.ts'
import { crowdOf } from './list-series.ts'
import { valueSeries } from './price-series.ts'
import { optionProblems } from './problems.ts'
import { type ClusterIndex, readIndex } from './read-index.ts'
import { findSeries, isTraded, lockSeries, type Series, writeEvents } from './series-store.ts'
import { debtsOf, payoutLines } from './set-off-debts.ts'

/** What the vault keeps of the model's price when it buys back. */
export const bidPercent = 95n

type Held = { symbol: string; holder: Address; quantity: number; premium_micro: Micro; state: string; final: boolean }
type VaultPart = { place: number; quantity: number; price_micro: Micro }

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

/**
 * What the vault pays to have contracts of its own back: a little less than their value, and never more than was paid for
 * them, so that nobody earns from an index that is pushed for an hour.
 */
export async function bidFor(deps: OptionDeps, positionId: string, wanted: number | undefined): Promise<Bid> {
  const held = await findPosition(deps, deps.database, positionId)
  const series = held && (await findSeries(deps.database, held.symbol))
  if (!held || !series) throw new Problem(optionProblems.position_unknown)
  requireClosable(deps, series, held)
  const parts = await vaultParts(deps.database, positionId)
  const available = parts.reduce((sum, part) => sum + part.quantity, 0)
  const quantity = wanted ?? available
  if (quantity === 0 || quantity > available) throw noBid(available)
  const [index] = await readIndex(deps.database, series.method, deps.settings.volatilityTicks, series.cluster)
  const value = modelValue(deps, series, index)
  if (value === null) throw noBid(0)
  const paidMicro = take(parts, quantity).premiumMicro
  const totalMicro = smallerOf((value * BigInt(quantity) * bidPercent) / 100n, paidMicro)
  if (totalMicro === 0n) throw noBid(0)
  return { symbol: series.symbol, quantity, totalMicro, synthetic: series.synthetic }
}

const noBid = (available: number) => new Problem(optionProblems.options_no_bid, { extra: { available } })

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

async function vaultParts(sql: Sql, positionId: string): Promise<VaultPart[]> {
  const { rows } = await sql.query<VaultPart>(
    `select place, quantity, price_micro from option_fill
     where position_id = $1 and order_id is null and quantity > 0 order by place`,
    [positionId],
  )
  return rows
}

/** The first contracts of the vault in a position, with what was paid for them. */
function take(parts: readonly VaultPart[], quantity: number): { taken: VaultPart[]; premiumMicro: Micro } {
  const taken: VaultPart[] = []
  let left = quantity
  for (const part of parts) {
    const count = Math.min(left, part.quantity)
    if (count > 0) taken.push({ ...part, quantity: count })
    left -= count
  }
  return { taken, premiumMicro: taken.reduce((sum, part) => sum + BigInt(part.quantity) * part.price_micro, 0n) }
}

export type Closing = { bidId: string; positionId: string; holder: Address; quantity: number; totalMicro: Micro }
export type Closed = { symbol: string; quantity: number; left: number; paidMicro: Micro }

/** Ends contracts before their expiry: what is locked behind them goes out, the bid to the holder, the rest to the vault. */
export async function closeContracts(deps: OptionDeps, closing: Closing): Promise<Closed> {
  const { positionId, quantity, totalMicro } = closing
  return deps.database.transaction(async (tx) => {
    const found = await findPosition(deps, tx, positionId)
    if (!found || found.holder !== closing.holder) throw new Problem(optionProblems.position_unknown)
    const series = (await lockSeries(tx, [found.symbol])).get(found.symbol) as Series
    const held = (await findPosition(deps, tx, positionId, 'for update of o')) as Held
    requireClosable(deps, series, held)
    const parts = await vaultParts(tx, positionId)
    const { taken, premiumMicro } = take(parts, quantity)
    if (taken.reduce((sum, part) => sum + part.quantity, 0) < quantity)
      throw noBid(parts.reduce((sum, part) => sum + part.quantity, 0))
    const { rowCount } = await tx.query(
      `insert into option_close (bid_id, position_id, quantity, premium_micro, paid_micro, closed_at)
       values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
      [closing.bidId, positionId, quantity, premiumMicro, totalMicro, new Date(deps.clock.nowMs())],
    )
    if (rowCount === 0) throw new Problem(optionProblems.quote_stale, { detail: 'The bid was used.' })
    for (const part of taken)
      await tx.query(`update option_fill set quantity = quantity - $3 where position_id = $1 and place = $2`, [
        positionId,
        part.place,
        part.quantity,
      ])
    const capMicro = BigInt(quantity) * series.capMicro
    const lockedMicro = capMicro - premiumMicro
    const left = held.quantity - quantity
    await tx.query(
      `update option_position set quantity = quantity - $2, premium_micro = premium_micro - $3, vault_micro = vault_micro - $4,
         state = case when quantity = $2 then 'closed' else state end,
         ended_at = case when quantity = $2 then $5::timestamptz end where id = $1`,
      [positionId, quantity, premiumMicro, lockedMicro, new Date(deps.clock.nowMs())],
    )
    await tx.query(`update option_series set seq = seq + 1, sold = sold - $2 where symbol = $1`, [
      series.symbol,
      quantity,
    ])
    // In the order in which a settlement locks them.
    const debts = await debtsOf(deps, tx, [closing.holder])
    await tx.query(`update option_vault set used_micro = used_micro - $1`, [lockedMicro])
    await post(tx, [
      {
        reference: `option_close:${closing.bidId}`,
        kind: 'option_close',
        lines: [
          { account: optionAccounts.collateral(deps.network, series.symbol), amount: capMicro },
          { account: accounts.operator(deps.network, 'usdc'), amount: totalMicro - capMicro },
          ...payoutLines(deps, debts, closing.holder, totalMicro),
        ],
      },
    ])
    await writeEvents(
      tx,
      [{ symbol: series.symbol, kind: 'closed', subject: positionId, quantity, priceMicro: totalMicro }],
      deps.clock.nowMs(),
    )
    return { symbol: series.symbol, quantity, left, paidMicro: totalMicro }
  })
}
