import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { accounts, owedTo } from '@assay/till/ledger'
import type { Sql } from '@assay/till/store/database'
import { modelValue } from './close-contracts.ts'
import type { OptionDeps } from './deps.ts'
import { payoffOf } from './domain/contract-terms.ts'
import { finalValues, moneyIsFinal } from './final-money.ts'
import { pointsText } from './follow-index.ts'
import { optionProblems } from './problems.ts'
import { readIndex } from './read-index.ts'
import { isTraded, openSeries } from './series-store.ts'
import { payoutPurpose } from './set-off-debts.ts'

const shownMax = 200

/** What a wallet holds, offers and is owed by the exchange, newest first. */
export async function describeHoldings(deps: OptionDeps, wallet: Address) {
  const [positions, offers, orders, payouts, payableMicro] = await Promise.all([
    readPositions(deps, wallet),
    readOffers(deps.database, wallet),
    readOrders(deps.database, wallet),
    deps.database.query<{ id: string; amount_micro: Micro; state: string; transaction: string | null }>(
      `select id, amount_micro, state, transaction from payout where payee = $1 and purpose = $2
       order by created_at desc limit 50`,
      [wallet, payoutPurpose],
    ),
    owedTo(deps.database, accounts.payable(deps.network, wallet, payoutPurpose)),
  ])
  return {
    wallet: checksumAddress(wallet),
    positions,
    offers,
    orders,
    payable_micro: payableMicro.toString(),
    payouts: payouts.rows.map(({ id, amount_micro, state, transaction }) => ({
      id,
      amount_micro: amount_micro.toString(),
      state,
      transaction,
    })),
  }
}

async function readPositions(deps: OptionDeps, wallet: Address) {
  const { rows } = await deps.database.query<{
    id: string
    symbol: string
    quantity: number
    premium_micro: Micro
    cap_micro: Micro
    state: string
    final: boolean
    expires_at: Date
    payout_micro: Micro | null
    synthetic: boolean
    closable: bigint
    closed: bigint
    closed_premium: Micro
    closed_paid: Micro
    sell_micro: Micro | null
    sell_quantity: number
  }>(
    `select o.id, o.symbol, o.quantity, o.premium_micro, s.cap_micro, o.state, o.sell_micro, least(o.sell_quantity, o.quantity) as sell_quantity, s.expires_at, o.payout_micro, s.synthetic,
       (select coalesce(sum(f.quantity), 0)::bigint from option_fill f where f.position_id = o.id and f.order_id is null) as closable,
       c.quantity as closed, c.premium as closed_premium, c.paid as closed_paid,
       o.state in ('closed', 'settled', 'voided') or (o.state = 'open' and ${moneyIsFinal('o.holder', 'o.opened_at')}) as final
     from option_position o join option_series s on s.symbol = o.symbol
     cross join lateral (select coalesce(sum(quantity), 0)::bigint as quantity, coalesce(sum(premium_micro), 0)::bigint as premium,
       -- A void series gives back what was paid, also for what was sold before.
       coalesce(sum(case when t.outcome = 'void' then premium_micro else paid_micro end), 0)::bigint as paid
       from option_close left join option_settlement t on t.symbol = o.symbol where position_id = o.id) c
     where o.holder = $3 and o.state <> 'released' order by o.reserved_at desc, o.id desc limit $4`,
    [...finalValues(deps), wallet, shownMax],
  )
  const values = await worthOf(
    deps,
    rows.filter(({ state }) => state === 'open').map(({ symbol }) => symbol),
  )
  return rows.map((row) => ({
    position_id: row.id,
    symbol: row.symbol,
    quantity: row.quantity,
    premium_micro: row.premium_micro.toString(),
    most_micro: (BigInt(row.quantity) * row.cap_micro).toString(),
    state: row.state,
    final: row.final,
    expires_at: toRfc3339(row.expires_at.getTime()),
    payout_micro: row.payout_micro?.toString() ?? null,
    ...profitOf(row, values.get(row.symbol)),
    sell:
      row.state === 'open' && row.sell_micro !== null
        ? { limit_micro: row.sell_micro.toString(), quantity: row.sell_quantity }
        : null,
    closable_quantity: row.state === 'open' ? Number(row.closable) : 0,
    closed_quantity: Number(row.closed),
    closed_micro: row.closed_paid.toString(),
    ...(row.synthetic ? { synthetic: true } : {}),
  }))
}

/** Value of one contract: by the model while it is traded, and as the payoff if it expired at the current index. */
type Worth = { value: Micro | null; payoff: Micro }

async function worthOf(deps: OptionDeps, symbols: readonly string[]): Promise<Map<string, Worth>> {
  const worth = new Map<string, Worth>()
  if (symbols.length === 0) return worth
  for (const one of (await openSeries(deps.database)).filter(({ symbol }) => symbols.includes(symbol))) {
    const [index] = await readIndex(deps.database, one.method, deps.settings.volatilityTicks, one.cluster)
    const newest = index?.ticks.at(-1)
    if (!newest) continue
    const value = isTraded(one, deps.clock.nowMs()) ? modelValue(deps, one, index) : null
    worth.set(one.symbol, { value, payoff: payoffOf(one, newest.valueE4) })
  }
  return worth
}

function profitOf(
  row: {
    state: string
    quantity: number
    premium_micro: Micro
    payout_micro: Micro | null
    closed_premium: Micro
    closed_paid: Micro
  },
  worth: Worth | undefined,
) {
  const open = (micro: Micro | null | undefined) =>
    row.state === 'open' && micro !== null && micro !== undefined ? BigInt(row.quantity) * micro : null
  const profit = (micro: Micro | null) =>
    micro === null ? null : (micro + row.closed_paid - row.premium_micro - row.closed_premium).toString()
  const valueMicro = open(worth?.value)
  return {
    value_micro: valueMicro?.toString() ?? null,
    profit_micro: profit(row.payout_micro ?? valueMicro ?? (row.state === 'closed' ? 0n : null)),
    expiry_profit_micro: profit(open(worth?.payoff)),
  }
}

async function readOrders(sql: Sql, wallet: Address) {
  const { rows } = await sql.query<{
    id: string
    symbol: string
    price_micro: Micro
    quantity: number
    open_quantity: number
    immediate: boolean
    state: string
  }>(
    `select id, symbol, price_micro, quantity, open_quantity, immediate, state from option_bid
     where bidder = $1 order by created_at desc, id desc limit $2`,
    [wallet, shownMax],
  )
  return rows.map(({ id, price_micro, ...row }) => ({ order_id: id, limit_micro: price_micro.toString(), ...row }))
}

async function readOffers(sql: Sql, wallet: Address) {
  const { rows } = await sql.query<{
    id: string
    symbol: string
    price_micro: Micro
    quantity: number
    open_quantity: number
    sold: bigint
    cap_micro: Micro
    state: string
  }>(
    `select o.id, o.symbol, o.price_micro, o.quantity, o.open_quantity, s.cap_micro, o.state,
       (select coalesce(sum(f.quantity), 0)::bigint from option_fill f join option_position p on p.id = f.position_id
        where f.order_id = o.id and p.state in ('held', 'open')) as sold
     from option_order o join option_series s on s.symbol = o.symbol
     where o.writer = $1 order by o.created_at desc, o.id desc limit $2`,
    [wallet, shownMax],
  )
  return rows.map((row) => ({
    offer_id: row.id,
    symbol: row.symbol,
    premium_micro: row.price_micro.toString(),
    quantity: row.quantity,
    free_quantity: row.open_quantity,
    sold_quantity: Number(row.sold),
    collateral_micro: (BigInt(row.open_quantity) * (row.cap_micro - row.price_micro)).toString(),
    state: row.state,
  }))
}

type SettlementRow = {
  symbol: string
  outcome: 'fixed' | 'void'
  value_e4: bigint | null
  payoff_micro: Micro | null
  reason: string | null
  document: Record<string, unknown>
  jws: string
  decided_at: Date
  contracts: bigint
  paid: Micro
}

const settlementSql = `select t.symbol, t.outcome, t.value_e4, t.payoff_micro, t.reason, t.document, t.jws, t.decided_at,
  (select coalesce(sum(p.quantity), 0)::bigint from option_position p where p.symbol = t.symbol and p.state in ('settled', 'voided')) as contracts,
  (select coalesce(sum(p.payout_micro), 0)::bigint from option_position p where p.symbol = t.symbol and p.state in ('settled', 'voided')) as paid
  from option_settlement t`

function describeSettlement(row: SettlementRow) {
  const { inputs_after, inputs_up_to } = row.document
  return {
    symbol: row.symbol,
    outcome: row.outcome,
    value: row.value_e4 === null ? null : pointsText(row.value_e4),
    payoff_micro: row.payoff_micro?.toString() ?? null,
    reason: row.reason,
    decided_at: toRfc3339(row.decided_at.getTime()),
    contracts: Number(row.contracts),
    paid_micro: row.paid.toString(),
    document: row.document,
    jws: row.jws,
    inputs_url: `/v1/options/inputs?after=${inputs_after}&up_to=${inputs_up_to}`,
  }
}

export async function listSettlements(sql: Sql, page: { limit: number; after?: { at: Date; symbol: string } }) {
  const { rows } = await sql.query<SettlementRow>(
    `${settlementSql} where ($2::timestamptz is null or (t.decided_at, t.symbol) < ($2, $3))
     order by t.decided_at desc, t.symbol desc limit $1`,
    [page.limit + 1, page.after?.at ?? null, page.after?.symbol ?? null],
  )
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  return {
    data: shown.map(describeSettlement),
    next_cursor: rows.length > shown.length && last ? `${last.decided_at.toISOString()} ${last.symbol}` : null,
  }
}

export async function findSettlement(sql: Sql, symbol: string) {
  const { rows } = await sql.query<SettlementRow>(`${settlementSql} where t.symbol = $1`, [symbol])
  if (!rows[0]) throw new Problem(optionProblems.series_unknown, { detail: 'No settlement of such a series.' })
  return describeSettlement(rows[0])
}

const inputsMax = 2_000

/** The published figures behind an index, page by page, in the order in which they are added up. */
export async function listInputs(sql: Sql, range: { after: Date; upTo: Date; cursor?: { at: Date; cluster: string } }) {
  const { rows } = await sql.query<{
    ends_at: Date
    starts_at: Date
    cluster: string
    bonded: number | null
    event_id: string
    synthetic: boolean
  }>(
    `select ends_at, starts_at, cluster, bonded, event_id, synthetic from option_input
     where ends_at > $1 and starts_at < $2
       and ($3::timestamptz is null or ends_at > $3 or (ends_at = $3 and cluster collate "C" > $4))
     order by ends_at, cluster collate "C" limit $5`,
    [range.after, range.upTo, range.cursor?.at ?? null, range.cursor?.cluster ?? null, inputsMax + 1],
  )
  const shown = rows.slice(0, inputsMax)
  const last = shown.at(-1)
  return {
    data: shown.map((row) => ({
      ends_at: row.ends_at.toISOString(),
      starts_at: row.starts_at.toISOString(),
      cluster: row.cluster,
      bonded: row.bonded,
      event_id: row.event_id,
      synthetic: row.synthetic,
    })),
    next_cursor: rows.length > shown.length && last ? `${last.ends_at.toISOString()} ${last.cluster}` : null,
  }
}
