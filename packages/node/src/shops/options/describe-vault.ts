import type { Micro } from '@assay/protocol/money'
import type { Sql } from '@assay/till/store/database'
import type { OptionDeps } from './deps.ts'
import type { MarketDeps } from './describe-market.ts'
import { bidPercent } from './domain/vault-bid.ts'
import { valueSeries } from './price-series.ts'
import { vaultOffer } from './reserve-contracts.ts'
import { isTraded, openSeries, type Series } from './series-store.ts'

export type VaultState = 'quoting' | 'off' | 'not_funded' | 'used_up' | 'no_series'

const reasons: Record<VaultState, string> = {
  quoting: 'The vault quotes both sides.',
  off: 'The vault is off: vault_usd of OPTIONS is 0. Contracts are sold only where a writer offers them.',
  not_funded:
    'The custody wallet holds nothing beyond what is owed to others. Contracts are sold only where a writer offers them.',
  used_up: 'All that the vault may lock is locked. It sells again when contracts end or are sold back.',
  no_series: 'No series is traded at a price within the premium band.',
}

type Vault = { limitMicro: Micro; usedMicro: Micro }

/** Why the vault sells nothing, before any series is checked; undefined when it has money to sell with. */
export function vaultClosed(
  { settings }: Pick<OptionDeps, 'settings'>,
  { limitMicro, usedMicro }: Vault,
): { state: VaultState; reason: string } | undefined {
  const stateOf = (): VaultState | undefined => {
    if (settings.vaultMicro === 0n) return 'off'
    if (limitMicro === 0n) return 'not_funded'
    return usedMicro >= limitMicro ? 'used_up' : undefined
  }
  const state = stateOf()
  return state && { state, reason: reasons[state] }
}

/** What the vault quotes, holds, has earned and may still lock. */
export async function describeVault(deps: MarketDeps) {
  const entries = [...(await deps.board.read()).values()]
  const vault = deps.board.vault()
  const nowMs = deps.clock.nowMs()
  const quotes = entries.flatMap(({ series }) => {
    const offer = isTraded(series, nowMs)
      ? vaultOffer(deps, { quantity: deps.settings.quantityMax }, series, { vault })
      : undefined
    return offer ? [quoteOf(series, offer)] : []
  })
  const state: VaultState = vaultClosed(deps, vault)?.state ?? (quotes.length === 0 ? 'no_series' : 'quoting')
  const inventory = await readInventory(deps, nowMs)
  const free = vault.limitMicro - vault.usedMicro
  return {
    state,
    reason: reasons[state],
    capital_micro: deps.settings.vaultMicro.toString(),
    limit_micro: vault.limitMicro.toString(),
    used_micro: vault.usedMicro.toString(),
    free_micro: (free > 0n ? free : 0n).toString(),
    realised_micro: (await realisedProfit(deps.database)).toString(),
    quotes,
    inventory,
  }
}

const quoteOf = (series: Series, { price, quantity }: { price: number; quantity: number }) => ({
  symbol: series.symbol,
  ask_micro: price.toString(),
  quantity,
  // At the index of the last pricing; a holder's own bid is never above what the holder paid.
  bid_micro: ((BigInt(price) * bidPercent) / 100n).toString(),
})

/** Contracts that the vault wrote and that are open, with what they are worth to their holders by the model. */
async function readInventory(deps: OptionDeps, nowMs: number) {
  const { rows } = await deps.database.query<{ symbol: string; contracts: bigint; premium: Micro }>(
    `select p.symbol, sum(f.quantity)::bigint as contracts, sum(f.quantity * f.price_micro)::bigint as premium
     from option_position p join option_fill f on f.position_id = p.id and f.order_id is null and f.quantity > 0
     where p.state = 'open' group by p.symbol order by p.symbol`,
  )
  const series = new Map((await openSeries(deps.database)).map((one) => [one.symbol, one]))
  return rows.map(({ symbol, contracts, premium }) => {
    const one = series.get(symbol)
    const tick = one?.pricedTick
    const worth = one && tick ? valueSeries(deps, one, { ticks: [tick] }, one.volatility, nowMs).price : undefined
    const value = one && worth !== undefined ? contracts * BigInt(Math.round(worth * Number(one.sizeMicro))) : undefined
    return {
      symbol,
      contracts: Number(contracts),
      premium_micro: premium.toString(),
      locked_micro: (contracts * (one?.capMicro ?? 0n) - premium).toString(),
      profit_micro: value === undefined ? null : (premium - value).toString(),
    }
  })
}

/** Premiums less payoffs of what has expired, and less what was paid for what was bought back. A void series earned nothing. */
async function realisedProfit(sql: Sql): Promise<Micro> {
  const { rows } = await sql.query<{ micro: Micro }>(
    `select (coalesce((select sum(f.quantity * (f.price_micro - t.payoff_micro)) from option_fill f
         join option_position p on p.id = f.position_id and p.state = 'settled'
         join option_settlement t on t.symbol = p.symbol and t.outcome = 'fixed' where f.order_id is null), 0)
       + coalesce((select sum(c.written_micro - c.paid_micro) from option_close c join option_position p on p.id = c.position_id
         where c.to_vault and not exists (select from option_settlement t where t.symbol = p.symbol and t.outcome = 'void')), 0))::bigint as micro`,
  )
  return rows[0]?.micro ?? 0n
}
