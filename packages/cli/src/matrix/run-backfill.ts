import type { CommandContext } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'
import { printResult } from '../output.ts'
import { loadMarketShop, reportOf, sourcesOf } from './ingest-report.ts'

export type BackfillOptions = { from: string; to?: string; source?: string[]; again?: boolean; json?: boolean }

export async function runBackfill(context: CommandContext, options: BackfillOptions): Promise<void> {
  const { terminal } = context
  const { from, to = new Date().toISOString().slice(0, 10) } = options
  if (from > to) throw usageError(`--from ${from} is after --to ${to}`)
  const shop = await loadMarketShop()
  await withOperator(terminal, async ({ config, database }) => {
    const market = shop.openMarketImport(config, database)
    const named = sourcesOf(shop, options.source)
    const plans = named.length > 0 ? named.map((id) => market.planOf(id)) : market.plans
    if (plans.length === 0)
      throw usageError('this node fetches no source by itself', 'Name one with --source, or add lines to LICENCES.')
    for (const { source, files } of plans)
      if (files === undefined) terminal.say(`${source}: its publisher keeps no past`)
    await terminal.untilInterrupted(async (signal) => {
      const reports = await shop.backfill(market.deps, plans, {
        from,
        to,
        signal,
        again: options.again ?? false,
        onReport: ({ name, outcome }, done, of) => {
          terminal.status(`${done} of ${of}: ${name}`)
          const { status, detail } = reportOf(name, outcome)
          if (!options.json && status !== 'held') terminal.out(`${status.padEnd(13)} ${name}  ${detail}`)
        },
      })
      const counts: Record<string, number> = {}
      for (const { outcome } of reports) counts[outcome.status] = (counts[outcome.status] ?? 0) + 1
      const data = reports.map(({ outcome, ...report }) => ({ ...report, ...reportOf(report.name, outcome) }))
      const summary = Object.entries(counts).map(([status, files]) => `${files} ${status.replace('_', ' ')}`)
      printResult(terminal, options.json, { from, to, counts, interrupted: signal.aborted, data }, () =>
        signal.aborted
          ? `interrupted after ${reports.length} files; the same command goes on from there`
          : `${reports.length} files: ${summary.join(', ') || 'none'}`,
      )
      if (signal.aborted || ['failed', 'refused', 'waiting'].some((status) => counts[status] !== undefined))
        context.endWith(exitCodes.failed)
    })
  })
}
