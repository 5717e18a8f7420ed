import type { CommandContext } from '../command-context.ts'
import { amountText } from '../operator/amount-text.ts'
import type { Operator } from '../operator/connect.ts'
import { printResult, table } from '../output.ts'
import { amountOf } from './beancount.ts'
import { gasMicro, parseCoinPrices } from './gas-value.ts'
import { rangeOf } from './range.ts'

export type RevenueOptions = { from?: string; to?: string; coinUsd?: string; csv?: boolean; json?: boolean }

const monthMs = 30 * 86_400_000

export async function showRevenue(
  { terminal }: CommandContext,
  { node, database }: Operator,
  options: RevenueOptions,
): Promise<void> {
  const nowMs = node.systemClock.nowMs()
  const fallback = new Date(nowMs - monthMs).toISOString().slice(0, 10)
  const range = rangeOf(options, new Date(nowMs), fallback)
  const prices = parseCoinPrices(options.coinUsd)
  const rows = (await node.readRevenue(database, range)).map((row) => {
    const gas = gasMicro(prices, row.network, row.gasGwei)
    return { ...row, gasMicro: gas, afterGas: gas === undefined ? undefined : row.net - gas }
  })
  if (options.csv) {
    terminal.out(
      'day,network,shop,gross_usd,refunds_usd,fees_usd,affiliates_usd,losses_usd,net_usd,gas_gwei,gas_usd,net_after_gas_usd',
    )
    for (const row of rows) {
      const money = [row.gross, row.refunds, row.fees, row.affiliates, row.losses, row.net]
      const usd = money.map((micro) => amountOf(micro, '/usdc'))
      const valued = [row.gasMicro, row.afterGas].map((micro) => (micro === undefined ? '' : amountOf(micro, '/usdc')))
      terminal.out([row.day, row.network, row.shop, ...usd, row.gasGwei, ...valued].join(','))
    }
    return
  }
  const data = rows.map((row) => ({
    ...node.describeRevenue(row),
    ...(row.gasMicro === undefined
      ? {}
      : { gas_micro: row.gasMicro.toString(), net_after_gas_micro: row.afterGas?.toString() }),
  }))
  printResult(terminal, options.json, { data }, () =>
    rows.length === 0
      ? 'nothing was earned or spent in these days'
      : table(rows, [
          { title: 'day', of: (row) => row.day },
          { title: 'shop', of: (row) => row.shop },
          { title: 'network', of: (row) => row.network },
          { title: 'gross', of: (row) => amountText(row.gross, 'usdc'), right: true },
          { title: 'refunds', of: (row) => amountText(row.refunds, 'usdc'), right: true },
          { title: 'fees', of: (row) => amountText(row.fees, 'usdc'), right: true },
          { title: 'affiliates', of: (row) => amountText(row.affiliates, 'usdc'), right: true },
          { title: 'losses', of: (row) => amountText(row.losses, 'usdc'), right: true },
          { title: 'net', of: (row) => amountText(row.net, 'usdc'), right: true },
          { title: 'gas', of: (row) => `${row.gasGwei} gwei`, right: true },
          ...(prices.size === 0
            ? []
            : [
                {
                  title: 'net after gas',
                  of: (row: (typeof rows)[number]) =>
                    row.afterGas === undefined ? '' : amountText(row.afterGas, 'usdc'),
                  right: true,
                },
              ]),
        ]),
  )
}
