import { followOptionTrades, listOptionTrades, type OptionTrade, readOptionDays, readOptionVault } from '@assay/sdk'
import type { CommandContext } from '../command-context.ts'
import { printResult, table } from '../output.ts'
import { reader, usd } from './run-options.ts'

export async function showTrades(
  { terminal }: CommandContext,
  node: string,
  symbol: string | undefined,
  { json, follow }: { json?: boolean; follow?: boolean },
): Promise<void> {
  if (follow)
    return terminal.untilInterrupted(async (signal) => {
      for await (const { trade } of followOptionTrades(reader(), node, { symbol, signal }))
        terminal.out(json ? JSON.stringify(trade) : tradeLine(trade))
    })
  const page = await listOptionTrades(reader(), node, { limit: 50, ...(symbol === undefined ? {} : { symbol }) })
  printResult(terminal, json, page, () =>
    page.data.length === 0
      ? 'Nothing was traded yet.'
      : table(page.data, [
          { title: 'at', of: (row) => row.at.slice(0, 19) },
          { title: 'series', of: (row) => row.symbol },
          { title: 'kind', of: (row) => row.kind },
          { title: 'contracts', of: (row) => String(row.quantity), right: true },
          { title: 'USD', of: (row) => usd(row.total_micro), right: true },
        ]),
  )
}

const tradeLine = ({ at, symbol, kind, quantity, total_micro }: OptionTrade) =>
  `${at.slice(0, 19)}  ${symbol}  ${kind} of ${quantity}${total_micro === null ? '' : ` for ${usd(total_micro)} USD`}`

export async function showDays(
  { terminal }: CommandContext,
  node: string,
  symbol: string,
  json?: boolean,
): Promise<void> {
  const answer = await readOptionDays(reader(), node, symbol)
  const { settlement } = answer
  printResult(terminal, json, answer, () =>
    [
      answer.days.length === 0
        ? 'Nothing was traded yet.'
        : table(answer.days, [
            { title: 'day', of: (row) => row.day },
            { title: 'bought', of: (row) => String(row.contracts), right: true },
            { title: 'USD', of: (row) => usd(row.premium_micro), right: true },
            { title: 'sold back', of: (row) => String(row.closed), right: true },
            { title: 'open interest', of: (row) => String(row.open_interest), right: true },
          ]),
      ...(settlement ? [`settled at ${settlement.value ?? 'nothing: void'} on ${settlement.at}`] : []),
    ].join('\n'),
  )
}

export async function showVault({ terminal }: CommandContext, node: string, json?: boolean): Promise<void> {
  const vault = await readOptionVault(reader(), node)
  printResult(terminal, json, vault, () =>
    [
      vault.reason,
      `limit ${usd(vault.limit_micro)} of ${usd(vault.capital_micro)} USD, locked ${usd(vault.used_micro)}, free ${usd(vault.free_micro)}, realised profit ${usd(vault.realised_micro)}`,
      ...(vault.inventory.length === 0
        ? []
        : [
            table(vault.inventory, [
              { title: 'written', of: (row) => row.symbol },
              { title: 'contracts', of: (row) => String(row.contracts), right: true },
              { title: 'premium', of: (row) => usd(row.premium_micro), right: true },
              { title: 'locked', of: (row) => usd(row.locked_micro), right: true },
              { title: 'profit', of: (row) => usd(row.profit_micro), right: true },
            ]),
          ]),
      ...(vault.quotes.length === 0
        ? []
        : [
            table(vault.quotes, [
              { title: 'quotes', of: (row) => row.symbol },
              { title: 'bid', of: (row) => usd(row.bid_micro), right: true },
              { title: 'ask', of: (row) => usd(row.ask_micro), right: true },
              { title: 'contracts', of: (row) => String(row.quantity), right: true },
            ]),
          ]),
    ].join('\n'),
  )
}
