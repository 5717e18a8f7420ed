import { median, timed } from './shop.ts'

type Connection = { runAndReadAll(sql: string): Promise<{ getRows(): unknown[][] }> }
type DuckDb = { DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> } }

/**
 * The same files in DuckDB, beside our figures. It is no part of the node; where the package is not installed this part
 * is left out. DUCKDB_MODULE may name where it is.
 */
export async function measureDuckDb(folder: string, symbols: readonly string[]): Promise<void> {
  const name = process.env['DUCKDB_MODULE'] ?? '@duckdb/node-api'
  const module = (await import(name).catch(() => undefined)) as DuckDb | undefined
  if (!module) {
    process.stdout.write('             DuckDB is not installed here (@duckdb/node-api): not measured\n')
    return
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
}
