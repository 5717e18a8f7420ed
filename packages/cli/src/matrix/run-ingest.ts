import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { loadNode } from '../load-node.ts'
import { type Operator, withOperator } from '../operator/connect.ts'
import { printResult, table } from '../output.ts'

export type IngestOptions = { watch?: boolean; source?: string[]; availableAt?: string; list?: boolean; json?: boolean }

type Node = Operator['node']
type SourceId = Node['marketDataSources'][number]['id']
type Report = { name: string; status: string; detail: string }

export async function runIngest(
  context: CommandContext,
  files: readonly string[],
  options: IngestOptions,
): Promise<void> {
  const { terminal } = context
  if (options.list) return listSources(context, options)
  await withOperator(terminal, async (operator) => {
    const ids = sourcesOf(operator.node, options.source)
    if (options.watch) return watch(context, operator, ids)
    const reports: Report[] = []
    for (const [index, name] of files.entries()) {
      terminal.status(`${index + 1} of ${files.length}: ${basename(name)}`)
      const report = await ingestOne(operator, name, ids[0], options)
      reports.push(report)
      if (!options.json) terminal.out(`${report.status.padEnd(10)} ${report.name}  ${report.detail}`)
    }
    if (options.json) printResult(terminal, true, { data: reports }, () => '')
    if (reports.some(({ status }) => status === 'refused' || status === 'failed')) context.endWith(exitCodes.failed)
  })
}

function sourcesOf(node: Node, given: readonly string[] | undefined): SourceId[] {
  const known = node.marketDataSources.map(({ id }) => id)
  for (const id of given ?? [])
    if (!known.some((one) => one === id))
      throw usageError(`--source: there is no source "${id}"`, `One of ${known.join(', ')}.`)
  return (given ?? []) as SourceId[]
}

function depsOf({ node, database, config }: Operator) {
  const { systemClock: clock, systemRng: rng, silentLog: log, silentMetrics: metrics } = node
  const outbound = () =>
    node.officialOutbound({ clock, rng, log, metrics, mode: config.mode, contact: config.contactEmail })
  return { database, clock, symbols: node.createSymbolTable(), outbound }
}

async function ingestOne(
  operator: Operator,
  name: string,
  source: SourceId | undefined,
  options: IngestOptions,
): Promise<Report> {
  const { node } = operator
  const deps = depsOf(operator)
  if (/^(https?|ftp):\/\//.test(name)) {
    const file = basename(new URL(name).pathname)
    const chosen = source ?? node.marketDataSources.find((one) => one.recognises(file, ''))?.id
    if (chosen === undefined) throw usageError(`which source is ${name}?`, 'Name it with --source.')
    const outcome = await node.fetchFile({ ...deps, outbound: deps.outbound() }, chosen, {
      url: name,
      name: file,
      period: '',
      dueAtMs: 0,
    })
    return reportOf(file, outcome)
  }
  const bytes = await readFile(name).catch(() => {
    throw usageError(`cannot read ${name}`)
  })
  const outcome = await node.ingestFile(deps, {
    name,
    bytes,
    ...(source === undefined ? {} : { source }),
    ...(options.availableAt === undefined ? {} : { availableAtMs: Date.parse(options.availableAt) }),
  })
  return reportOf(basename(name), outcome)
}

function reportOf(name: string, outcome: { status: string } & Record<string, unknown>): Report {
  const { status } = outcome
  if (status === 'stored')
    return {
      name,
      status,
      detail: `${outcome.source} ${outcome.period}, revision ${outcome.revision}, ${outcome.rows} rows`,
    }
  if (status === 'unchanged')
    return { name, status, detail: `${outcome.source} ${outcome.period}: these very bytes are held` }
  if (status === 'refused') return { name, status, detail: `${outcome.code}: ${outcome.detail}` }
  return { name, status, detail: String(outcome.detail ?? '') }
}

const everyMs = 5 * 60_000

async function watch({ terminal }: CommandContext, operator: Operator, given: readonly SourceId[]): Promise<void> {
  const { node } = operator
  const { outbound, ...deps } = depsOf(operator)
  const ids =
    given.length > 0
      ? given
      : // What needs the operator's own decision is fetched when it is named, not by itself.
        node.marketDataSources
          .filter((one) => one.licence.free === 'yes' && one.schedule.due(deps.clock.nowMs()).length > 0)
          .map(({ id }) => id)
  const way = outbound()
  await terminal.untilInterrupted(async (signal) => {
    while (!signal.aborted) {
      await node.fetchDue({ ...deps, outbound: way }, ids, {
        signal,
        onReport: ({ name, outcome }, done, of) => {
          terminal.status(`${done} of ${of}: ${name}`)
          if (outcome.status !== 'waiting' && outcome.status !== 'not_modified') {
            const report = reportOf(name, outcome)
            terminal.out(`${report.status.padEnd(13)} ${report.name}  ${report.detail}`)
          }
        },
      })
      terminal.status('all schedules looked at; waiting')
      await deps.clock.sleep(everyMs, signal).catch(() => {})
    }
  })
}

async function listSources({ terminal }: CommandContext, options: IngestOptions): Promise<void> {
  const { marketDataSources } = await loadNode()
  const rows = marketDataSources.map((source) => ({
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
