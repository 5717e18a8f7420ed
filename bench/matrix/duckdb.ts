import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../percentiles.ts'
import { timed } from './shop.ts'

type Connection = { runAndReadAll(sql: string): Promise<{ getRows(): unknown[][] }> }
type DuckDb = { DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> } }

export type Beside = { loadMs: number; historyMs: number; factorMs: number }

/** The newest whose binaries exist for every platform we run on. */
const duckDb = '@duckdb/node-api@1.5.5-r.5'
const installMsMax = 120_000
const root = join(import.meta.dirname, '..', '..')
const folderOfOwn = join(root, 'node_modules', '.cache', 'assay-duckdb')

/** No part of the node, and no dependency: installed once beside the others, for this comparison alone. */
async function loadDuckDb(): Promise<DuckDb | undefined> {
  const named = process.env['DUCKDB_MODULE']
  const entry = named ?? join(folderOfOwn, 'node_modules', '@duckdb', 'node-api', 'lib', 'index.js')
  if (named === undefined && !existsSync(entry)) {
    process.stderr.write('Installing DuckDB (once) ...\n')
    mkdirSync(folderOfOwn, { recursive: true })
    const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folderOfOwn]
    spawnSync('npm', ['install', ...options, duckDb], { stdio: ['ignore', 2, 2], timeout: installMsMax })
  }
  return (await import(entry).catch(() => undefined)) as DuckDb | undefined
}

/** The same files in DuckDB, beside our figures; left out, with a word, where it cannot be installed. */
export async function measureDuckDb(folder: string, symbols: readonly string[]): Promise<Beside | undefined> {
  const module = await loadDuckDb()
  if (!module) {
    process.stdout.write(`             DuckDB could not be installed here (${duckDb}): not measured\n`)
    return undefined
  }
  const opened = await timed(async () => (await module.DuckDBInstance.create(':memory:')).connect())
  const db = opened.result
  const say = (what: string, ms: number) =>
    process.stdout.write(`             DuckDB: ${what.padEnd(40)} ${ms.toFixed(0)} ms\n`)
  say('open', opened.wallMs)
  const load = await timed(() =>
    db.runAndReadAll(
      `create table sv as select * from read_csv('${folder}/CNMSshvol*.txt', delim='|', header=true, all_varchar=true, null_padding=true, ignore_errors=true) where Symbol is not null`,
    ),
  )
  say('a year of files read', load.wallMs)
  await db.runAndReadAll(
    `create table v as select strptime("Date", '%Y%m%d')::date as day, Symbol as symbol, ShortVolume::double as short, TotalVolume::double as total from sv`,
  )
  const history: number[] = []
  for (let i = 0; i < 30; i += 1) {
    const symbol = symbols[(i * 37) % symbols.length]
    history.push(
      (
        await timed(() =>
          db.runAndReadAll(`select day, short, total from v where symbol = '${symbol}' order by day desc limit 60`),
        )
      ).wallMs,
    )
  }
  say('one symbol, 60 days, p50', median(history))
  const scores: number[] = []
  for (let i = 0; i < 5; i += 1)
    scores.push(
      (
        await timed(() =>
          db.runAndReadAll(
            `with last as (select max(day) as d from v), r as (select symbol, day, short / nullif(total, 0) as ratio from v where day > (select d from last) - interval 90 day),
             z as (select symbol, (last(ratio order by day) - avg(ratio)) / nullif(stddev_samp(ratio), 0) as z from r group by symbol)
             select symbol, percent_rank() over (order by z) from z order by 2 desc limit 100`,
          ),
        )
      ).wallMs,
    )
  say('one factor of the score, whole universe', median(scores))
  return { loadMs: load.wallMs, historyMs: median(history), factorMs: median(scores) }
}
