import { lineOf, type Origin, originLines, updateRecord } from '../record.ts'
import type { FigureRow } from '../report-figures.ts'

export type ScaleRun = Origin & { command: string; rows: FigureRow[] }

export const recordRun = (name: string, run: ScaleRun): void =>
  updateRecord<ScaleRun>(
    'scale',
    (runs) => {
      runs[name] = run
    },
    tablesOf,
  )

/** The figure that sizes are calculated from. */
const callFromCredit = 'a call from credit, with what is done for it later'

/** The tables of docs/scale.md: what was measured, and the sizes that follow from it. */
export const tablesOf = (runs: Record<string, ScaleRun>): string[] => [measuredTable(runs), sizesTable(runs)]

function measuredTable(runs: Record<string, ScaleRun>): string {
  const named = Object.entries(runs).map(([name, run]) => ({ name, ...run }))
  const lines = [
    ...originLines(named),
    '',
    '| figure | asked | measured | shown by | run at |',
    '|---|---|---|---|---|',
  ]
  for (const { command, at = '', rows } of named)
    for (const { figure, asked, measured, reached } of rows)
      lines.push(
        lineOf([
          figure,
          asked ?? '-',
          reached === false ? `**not reached**: ${measured}` : measured,
          `\`${command}\``,
          at,
        ]),
      )
  return lines.join('\n')
}

const callsPerSecond = 1_000_000
const coresPerMachine = 64
const shards = 64
const answerKilobytes = 6

/** A database with several processes makes smaller groups of commits: half as much again is added to what a call takes of it. */
const databaseMargin = 1.5

function sizesTable(runs: Record<string, ScaleRun>): string {
  const row = Object.values(runs)
    .flatMap(({ rows }) => rows)
    .find(({ figure }) => figure === callFromCredit)
  const [node = 0, database = 0, logBytes = 0] = (row?.measured.match(/\d+/g) ?? []).map(Number)
  const taken = Math.round((database * databaseMargin) / 100) * 100
  const shown = (value: number) => Number(value.toPrecision(3)).toLocaleString('en-US')
  const cores = (micros: number) => (micros * callsPerSecond) / 1e6
  const machines = Math.ceil((2 * cores(node)) / coresPerMachine)
  const perShard = callsPerSecond / shards
  const gigabits = (answerKilobytes * 8 * callsPerSecond) / 1e6
  const lines = [
    ['', 'each', 'for 1,000,000/s', 'with half the cores kept free'],
    ['---', '---', '---', '---'],
    [
      'node, a call from credit',
      `${node / 1_000} ms`,
      `${shown(cores(node))} cores`,
      `${shown(2 * cores(node))} cores: ${machines} machines of ${coresPerMachine}, ${Math.ceil(machines / 3)} a region`,
    ],
    [
      'database, shards',
      `${database / 1_000} ms, taken as ${taken / 1_000}`,
      `${shown(cores(taken))} cores`,
      `${shown(2 * cores(taken))} cores: ${shards} shards of ${Math.ceil((2 * cores(taken)) / shards)} cores`,
    ],
    ['calls of one shard', '', `${shown(perShard)}/s`, ''],
    [
      `log of one shard, ${(logBytes / 1_000).toFixed(1)} kB a call`,
      '',
      `${Math.round((logBytes * perShard) / 1e6)} MB/s`,
      'one NVMe disk, and its replica',
    ],
    [
      `answers over the wire, ${answerKilobytes} kB`,
      '',
      `${gigabits} Gbit/s`,
      `${Math.round(gigabits / 3)} Gbit/s a region`,
    ],
  ]
  return lines.map(lineOf).join('\n')
}
