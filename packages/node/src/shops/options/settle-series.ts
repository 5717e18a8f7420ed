import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { type Account, accounts, type LedgerLine, type LedgerTransaction, owedTo, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { optionAccounts } from './accounts.ts'
import { decideSeriesOutcome, type SeriesOutcome, seriesToSettle } from './decide-series-outcome.ts'
import type { OptionDeps } from './deps.ts'
import { finalValues, moneyIsFinal } from './final-money.ts'
import { endClaims } from './pay-shares.ts'
import { returnContracts } from './return-contracts.ts'
import { findSeries, lockSeries, type Series, writeEvents } from './series-store.ts'
import { type Debts, debtsOf, payoutLines } from './set-off-debts.ts'
import { returnOpen } from './withdraw.ts'

const perStepMax = 200

/**
 * Brings series from their expiry to their end: the value is fixed and signed, then everybody's part becomes payable, a
 * step at a time. Every step is one transaction that changes a row only once, so that a process that dies in
 * between leaves the rest to the next run.
 */
export async function settleSeries(deps: OptionDeps): Promise<number> {
  let ended = 0
  for (const symbol of await seriesToSettle(deps))
    try {
      if (await settleOne(deps, symbol)) ended += 1
    } catch (error) {
      deps.log.error({ symbol, error: String(error) }, 'a series could not be settled yet')
    }
  return ended
}

async function settleOne(deps: OptionDeps, symbol: string): Promise<boolean> {
  const result = await decideSeriesOutcome(deps, symbol)
  if (!result) return false
  const series = await findSeries(deps.database, symbol)
  if (!series) return false
  const end = () => deps.database.transaction((tx) => endSeries(deps, tx, series))
  // Most series end with nobody in them.
  if (await end()) return true
  while ((await deps.database.transaction((tx) => endPositions(deps, tx, series, result))) > 0);
  while ((await deps.database.transaction((tx) => endClaims(deps, tx, series, result))) > 0);
  for (const side of ['offer', 'order'] as const)
    while ((await deps.database.transaction((tx) => returnOpen(deps, tx, side, symbol, 'all'))) > 0);
  return end()
}

type Position = { id: string; holder: Address; quantity: number; premium_micro: Micro; vault_micro: Micro }
type Part = { position_id: string; writer: Address; order_id: string | null; quantity: number; price_micro: Micro }

/** Positions whose money is final; what is not waits for the next run. */
async function endPositions(deps: OptionDeps, tx: Tx, series: Series, result: SeriesOutcome): Promise<number> {
  const { rows: positions } = await tx.query<Position>(
    `select id, holder, quantity, premium_micro, vault_micro from option_position o
     where symbol = $3 and state = 'open' and ${moneyIsFinal('o.holder', 'o.opened_at')}
     order by id limit $4 for update`,
    [...finalValues(deps), series.symbol, perStepMax],
  )
  if (positions.length === 0) return 0
  const { rows: parts } = await tx.query<Part>(
    `select position_id, writer, order_id, quantity, price_micro from option_fill where position_id = any($1) order by position_id, place`,
    [positions.map(({ id }) => id)],
  )
  const debts = await debtsOf(deps, tx, [
    ...positions.map(({ holder }) => holder),
    ...parts.filter(({ order_id }) => order_id !== null).map(({ writer }) => writer),
  ])
  const ends = positions.map((position) => ({
    position,
    payoutMicro: payoutOf(position, result),
    posting: endPosting(
      deps,
      { series, position, result, parts: parts.filter(({ position_id }) => position_id === position.id) },
      debts,
    ),
  }))
  await tx.query(
    `update option_position p set state = $1, ended_at = $2, payout_micro = d.payout
     from unnest($3::text[], $4::bigint[]) d (id, payout) where p.id = d.id`,
    [
      result.outcome === 'void' ? 'voided' : 'settled',
      new Date(deps.clock.nowMs()),
      ends.map(({ position }) => position.id),
      ends.map(({ payoutMicro }) => payoutMicro),
    ],
  )
  const vaultMicro = positions.reduce((sum, { vault_micro }) => sum + vault_micro, 0n)
  if (vaultMicro > 0n) await tx.query(`update option_vault set used_micro = used_micro - $1`, [vaultMicro])
  await post(
    tx,
    ends.map(({ posting }) => posting),
  )
  await writeEvents(
    tx,
    ends.map(({ position, payoutMicro }) => ({
      symbol: series.symbol,
      kind: 'settled' as const,
      subject: position.id,
      quantity: position.quantity,
      priceMicro: payoutMicro,
    })),
    deps.clock.nowMs(),
  )
  return positions.length
}

/** A void series returns the premium; any other pays the payoff. */
export function payoutOf(position: Pick<Position, 'quantity' | 'premium_micro'>, result: SeriesOutcome): Micro {
  return result.outcome === 'void' ? position.premium_micro : BigInt(position.quantity) * result.payoffMicro
}

/** A position when its series ends, and what each writer put behind it. */
type EndedPosition = { series: Series; position: Position; parts: readonly Part[]; result: SeriesOutcome }

/**
 * What is behind a position goes out: the holder's payout, and to each writer the rest of its part. When the series is void
 * and the contracts were sold on, what makes earlier holders whole is left for their claims.
 */
function endPosting(
  deps: OptionDeps,
  { series, position, parts, result }: EndedPosition,
  debts: Debts,
): LedgerTransaction {
  const shares = new Map<string, { account: Account; micro: Micro }>()
  const give = (account: Account, micro: Micro) => {
    const share = shares.get(account.name) ?? { account, micro: 0n }
    share.micro += micro
    shares.set(account.name, share)
  }
  const payoutMicro = payoutOf(position, result)
  for (const { account, amount } of payoutLines(deps, debts, position.holder, payoutMicro)) give(account, -amount)
  for (const { writer, order_id, quantity, price_micro } of parts) {
    const keptMicro = series.capMicro - (result.outcome === 'void' ? price_micro : result.payoffMicro)
    const micro = BigInt(quantity) * keptMicro
    if (order_id === null) give(accounts.operator(deps.network, 'usdc'), micro)
    else for (const { account, amount } of payoutLines(deps, debts, writer, micro)) give(account, -amount)
  }
  const paid = [...shares.values()].filter(({ micro }) => micro > 0n)
  const paidMicro = paid.reduce((sum, { micro }) => sum + micro, 0n)
  const lines: LedgerLine[] = [
    { account: optionAccounts.collateral(deps.network, series.symbol), amount: paidMicro },
    ...paid.map(({ account, micro }) => ({ account, amount: -micro })),
  ]
  return { reference: `option_end:${position.id}`, kind: 'option_end', memo: result.outcome, lines }
}

/** The end, once nothing is open: then nothing may be left behind it either. */
async function endSeries(deps: OptionDeps, tx: Tx, { symbol }: Series): Promise<boolean> {
  await lockSeries(tx, [symbol])
  const { rows: held } = await tx.query<{ id: string; symbol: string }>(
    `select id, symbol from option_position where symbol = $1 and state = 'held' and held_until <= $2`,
    [symbol, new Date(deps.clock.nowMs())],
  )
  await returnContracts(deps, tx, held, { from: 'held', to: 'released' })
  const { rowCount: open } = await tx.query(
    `select from option_position where symbol = $1 and state in ('held', 'open')
     union all select from option_order where symbol = $1 and (state = 'pending' or open_quantity > 0)
     union all select from option_bid where symbol = $1 and (state = 'pending' or open_quantity > 0)
     union all select from option_claim where symbol = $1 and ended_at is null`,
    [symbol],
  )
  if (open > 0) return false
  const leftMicro =
    (await owedTo(tx, optionAccounts.collateral(deps.network, symbol))) +
    (await owedTo(tx, optionAccounts.orders(deps.network, symbol)))
  if (leftMicro !== 0n) {
    deps.metrics.count('alarms', { alarm: 'option_collateral' })
    throw new Error(`${leftMicro} is left behind ${symbol} after everybody was paid`)
  }
  await tx.query(`update option_series set state = 'ended' where symbol = $1`, [symbol])
  await writeEvents(tx, [{ symbol, kind: 'ended', subject: symbol }], deps.clock.nowMs())
  return true
}
