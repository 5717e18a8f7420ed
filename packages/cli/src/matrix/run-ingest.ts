import { access, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'
import { printResult, table } from '../output.ts'
import { loadMarketShop, type MarketShop, reportOf, type SourceId, sourcesOf } from './ingest-report.ts'

export type IngestOptions = { watch?: boolean; source?: string[]; availableAt?: string; list?: boolean; json?: boolean }

type Report = { name: string; status: string; detail: string }
type Import = ReturnType<MarketShop['openMarketImport']>

export async function runIngest(
  context: CommandContext,
  files: readonly string[],
  options: IngestOptions,
): Promise<void> {
  const { terminal } = context
  const shop = await loadMarketShop()
  if (options.list) return listSources(context, shop, options)
  const ids = sourcesOf(shop, options.source)
  for (const name of files.filter((one) => !isAddress(one)))
    await access(name).catch(() => {
      throw usageError(`cannot read ${name}`)
    })
  await withOperator(terminal, async ({ config, database }) => {
    const market = shop.openMarketImport(config, database)
    if (options.watch) return watch(context, shop, market, ids)
    const reports: Report[] = []
    for (const [index, name] of files.entries()) {
      terminal.status(`${index + 1} of ${files.length}: ${basename(name)}`)
      const report = await ingestOne(shop, market, name, ids[0], options)
      reports.push(report)
      if (!options.json) terminal.out(`${report.status.padEnd(10)} ${report.name}  ${report.detail}`)
    }
    if (options.json) printResult(terminal, true, { data: reports }, () => '')
    if (reports.some(({ status }) => status === 'refused' || status === 'failed')) context.endWith(exitCodes.failed)
  })
}

const isAddress = (name: string) => /^(https?|ftp):\/\//.test(name)

async function ingestOne(
  shop: MarketShop,
  { deps, planOf }: Import,
  name: string,
  source: SourceId | undefined,
  options: IngestOptions,
): Promise<Report> {
  if (isAddress(name)) {
    const file = basename(new URL(name).pathname)
    const chosen = source ?? shop.sources.find((one) => one.recognises(file, ''))?.id
    if (chosen === undefined) throw usageError(`which source is ${name}?`, 'Name it with --source.')
    const due = { url: name, name: file, period: '', dueAtMs: 0 }
    return reportOf(file, await shop.fetchFile(deps, planOf(chosen), due))
  }
  const bytes = await readFile(name).catch(() => {
    throw usageError(`cannot read ${name}`)
  })
  const outcome = await shop.ingestFile(deps, {
    name,
    bytes,
    ...(source === undefined ? {} : { source }),
    ...(options.availableAt === undefined ? {} : { availableAtMs: Date.parse(options.availableAt) }),
  })
  return reportOf(basename(name), outcome)
}

const everyMs = 5 * 60_000

async function watch(
  { terminal }: CommandContext,
  shop: MarketShop,
  { deps, planOf }: Import,
  given: readonly SourceId[],
): Promise<void> {
  // What needs the operator's own decision is fetched when it is named, not by itself.
  const usual = shop.sources.filter((one) => one.licence.free === 'yes').map(({ id }) => id)
  const plans = (given.length > 0 ? given : usual).map((id) => planOf(id))
  await terminal.untilInterrupted(async (signal) => {
    while (!signal.aborted) {
      await shop.fetchDue(deps, plans, {
        signal,
        onReport: ({ name, outcome }, done, of) => {
          terminal.status(`${done} of ${of}: ${name}`)
          if (!['waiting', 'not_modified', 'held'].includes(outcome.status)) {
            const report = reportOf(name, outcome)
            terminal.out(`${report.status.padEnd(13)} ${report.name}  ${report.detail}`)
          }
        },
      })
      terminal.status('all schedules checked; waiting')
      await deps.clock.sleep(everyMs, signal).catch(() => {})
    }
  })
}

async function listSources(
  { terminal }: CommandContext,
  { sources }: MarketShop,
  options: IngestOptions,
): Promise<void> {
  const rows = sources.map((source) => ({
    id: source.id,
    title: source.title,
    cadence: source.schedule.cadence,
    licence: source.licence.id,
    may_be_sold: source.licence.commercial,
    parser_saw: source.seen,
    url_pattern: source.urlPattern,
  }))
  printResult(terminal, options.json, { data: rows }, () =>
    table(rows, [
      { title: 'source', of: (row) => row.id },
      { title: 'what', of: (row) => row.title },
      { title: 'may be sold', of: (row) => row.may_be_sold },
      { title: 'parser saw', of: (row) => row.parser_saw },
      { title: 'address', of: (row) => row.url_pattern },
    ]),
  )
}
