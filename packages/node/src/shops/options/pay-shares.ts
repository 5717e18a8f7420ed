import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { accounts, type LedgerLine, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { optionAccounts } from './accounts.ts'
import type { SeriesOutcome } from './decide-series-outcome.ts'
import type { OptionDeps } from './deps.ts'
import type { Series } from './series-store.ts'
import { type Debts, debtsOf, payoutLines } from './set-off-debts.ts'

/** What somebody who leaves contracts early gets in all: when the series is settled, and when it is void. */
export type Share = { wallet: Address; fixedMicro: Micro; voidMicro: Micro }

type Closing = { id: string; series: Series; debts: Debts; shares: readonly Share[]; orderMicro: Micro }

/**
 * The smaller of the two is certain and goes out now; the difference stays behind the series until its end. So a void
 * series returns to everybody what it paid in, whatever was traded before, and nobody earns by causing one.
 */
export async function payShares(deps: OptionDeps, tx: Tx, closing: Closing): Promise<void> {
  const { id, series, debts, shares, orderMicro } = closing
  const certain = shares.map(({ wallet, fixedMicro, voidMicro }) => {
    const nowMicro = smallerOf(fixedMicro, voidMicro)
    return { wallet, nowMicro, ifFixedMicro: fixedMicro - nowMicro, ifVoidMicro: voidMicro - nowMicro }
  })
  const nowMicro = certain.reduce((sum, share) => sum + share.nowMicro, 0n)
  const lines: LedgerLine[] = [
    { account: optionAccounts.orders(deps.network, series.symbol), amount: orderMicro },
    { account: optionAccounts.collateral(deps.network, series.symbol), amount: nowMicro - orderMicro },
    ...certain.flatMap((share) => linesTo(deps, debts, share.wallet, share.nowMicro)),
  ]
  await post(tx, [
    { reference: `option_close:${id}`, kind: 'option_close', lines: lines.filter(({ amount }) => amount !== 0n) },
  ])
  const open = certain.filter(({ ifFixedMicro, ifVoidMicro }) => ifFixedMicro + ifVoidMicro > 0n)
  await tx.query(
    `insert into option_claim (id, symbol, wallet, if_fixed_micro, if_void_micro)
     select $1 || ':' || wallet, $2, wallet, fixed, void from unnest($3::text[], $4::bigint[], $5::bigint[]) c (wallet, fixed, void)`,
    [
      id,
      series.symbol,
      open.map(({ wallet }) => wallet),
      open.map(({ ifFixedMicro }) => ifFixedMicro),
      open.map(({ ifVoidMicro }) => ifVoidMicro),
    ],
  )
}

function linesTo(deps: OptionDeps, debts: Debts, wallet: Address, micro: Micro): LedgerLine[] {
  if (wallet === deps.vaultWallet) return [{ account: accounts.operator(deps.network, 'usdc'), amount: -micro }]
  return payoutLines(deps, debts, wallet, micro)
}

const perStepMax = 200

/** What waited for the end of a series becomes payable. */
export async function endClaims(
  deps: OptionDeps,
  tx: Tx,
  { symbol }: Series,
  { outcome }: SeriesOutcome,
): Promise<number> {
  const { rows } = await tx.query<{ id: string; wallet: Address; micro: Micro }>(
    `select id, wallet, ${outcome === 'void' ? 'if_void_micro' : 'if_fixed_micro'} as micro from option_claim
     where symbol = $1 and ended_at is null order by id limit $2 for update`,
    [symbol, perStepMax],
  )
  if (rows.length === 0) return 0
  const debts = await debtsOf(
    deps,
    tx,
    rows.map(({ wallet }) => wallet),
  )
  await tx.query(`update option_claim set ended_at = $2 where id = any($1)`, [
    rows.map(({ id }) => id),
    new Date(deps.clock.nowMs()),
  ])
  await post(
    tx,
    rows
      .filter(({ micro }) => micro > 0n)
      .map(({ id, wallet, micro }) => ({
        reference: `option_claim:${id}`,
        kind: 'option_close',
        lines: [
          { account: optionAccounts.collateral(deps.network, symbol), amount: micro },
          ...linesTo(deps, debts, wallet, micro),
        ],
      })),
  )
  return rows.length
}
