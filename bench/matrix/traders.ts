import { createNotifications } from '../../packages/node/src/notifications/events.ts'
import { alertJob, alertTopic, checkAlerts } from '../../packages/node/src/shops/matrix/alerts/alert-job.ts'
import { bulkInputs, bulkMonths, makeTable } from '../../packages/node/src/shops/matrix/bulk/make-table.ts'
import { bulkFormats, renderTable } from '../../packages/node/src/shops/matrix/bulk/render-table.ts'
import { addDays } from '../../packages/node/src/shops/matrix/calendar/dates.ts'
import { tradingDaysUpTo } from '../../packages/node/src/shops/matrix/calendar/trading-days.ts'
import { createDemoSecurities } from '../../packages/node/src/shops/matrix/demo/demo-securities.ts'
import { priceFile, shortVolumeFile } from '../../packages/node/src/shops/matrix/demo/write-files.ts'
import { ingestFile } from '../../packages/node/src/shops/matrix/ingest/ingest-file.ts'
import type { MatrixDeps } from '../../packages/node/src/shops/matrix/matrix-deps.ts'
import { answerPull, parquetType } from '../../packages/node/src/shops/matrix/routes/answer-pull.ts'
import { readHistory } from '../../packages/node/src/shops/matrix/routes/read-history.ts'
import { currentMethod } from '../../packages/node/src/shops/matrix/score/method.ts'
import {
  figureNames,
  keepScoredDay,
  readScores,
} from '../../packages/node/src/shops/matrix/score-history/score-store.ts'
import { isSnapshot } from '../../packages/node/src/shops/matrix/snapshots/snapshot-cache.ts'
import { median } from '../percentiles.ts'
import { report, timed } from './shop.ts'

/** What traders do with a ranking of 12,000 symbols: screen it, be notified of it, download it, look back. */
export async function measureTraders(shop: MatrixDeps): Promise<void> {
  await screens(shop)
  await downloads(shop)
  await months(shop)
  await alerts(shop)
  await fiveYears(shop)
}

async function screens(shop: MatrixDeps): Promise<void> {
  const screen = (i: number) =>
    answerPull(shop, {
      feed: 'squeeze',
      tier: 'live',
      query: { limit: 100, sort: '-days_to_cover', filter: `borrow_fee>${(i % 977) / 100},score>=${(i % 89) + 1}` },
      representation: 'application/json',
    })
  const first = await timed(() => screen(0))
  const count = 5_000
  const run = await timed(async () => {
    for (let i = 1; i <= count; i += 1) await screen(i)
  })
  // By CPU, for other processes share the cores, and nothing here waits for anybody else.
  const perSecond = count / (run.cpuMs / 1000)
  report(
    'filtered and sorted page of 100, each another',
    `${Math.round(perSecond)} a second of CPU, ${Math.round(count / (run.wallMs / 1000))} of wall; the first ${first.wallMs.toFixed(0)} ms`,
    '>= 3,000 a second',
    perSecond >= 3_000,
  )
}

async function downloads(shop: MatrixDeps): Promise<void> {
  let csvBytes = 0
  for (const representation of ['application/x-ndjson', 'text/csv', parquetType]) {
    const query = { limit: 25_000, filter: `rank>=${representation.length}` }
    const pull = () => answerPull(shop, { feed: 'squeeze', tier: 'vip', query, representation })
    // The first one of a snapshot may make what the others copy.
    const first = await timed(pull)
    const runs = [await timed(pull), await timed(pull), await timed(pull)]
    const bytes = first.result.body.length
    if (representation === 'text/csv') csvBytes = bytes
    reportExport(
      `export of the universe, ${representation}`,
      { bytes, logical: representation === parquetType ? csvBytes : bytes, runs },
      `; the first ${first.wallMs.toFixed(0)} ms`,
    )
  }
}

async function months(shop: MatrixDeps): Promise<void> {
  const [month] = await bulkMonths(shop, 'short-volume')
  const inputs = month === undefined ? undefined : await bulkInputs(shop, 'short-volume', month)
  if (month === undefined || !inputs) throw new Error('no month of short volume')
  const loaded = await timed(() => makeTable(shop, 'short-volume', month, inputs))
  const table = loaded.result
  process.stdout.write(
    `             ${table.rows} rows of a month read from the database in ${loaded.wallMs.toFixed(0)} ms, ${loaded.cpuMs.toFixed(0)} ms CPU\n`,
  )
  let csvBytes = 0
  for (const format of bulkFormats) {
    const render = () => timed(() => renderTable(table, format, async () => {}))
    const runs = [await render(), await render(), await render(), await render(), await render()]
    const bytes = runs[0]?.result.length ?? 0
    if (format === 'csv') csvBytes = bytes
    reportExport(`a month of ${table.rows} rows as ${format}`, { bytes, logical: csvBytes, runs })
  }
}

type Export = { bytes: number; logical: number; runs: readonly { wallMs: number; cpuMs: number }[] }

/** By CPU, for other processes share the cores. The data of a table are the bytes that it has as CSV; Parquet says them in fewer. */
function reportExport(name: string, { bytes, logical, runs }: Export, more = ''): void {
  const cpuMs = median(runs.map((run) => run.cpuMs))
  const wallMs = median(runs.map((run) => run.wallMs))
  const rate = (size: number) => `${(size / 1e3 / cpuMs).toFixed(0)} MB/s`
  const file = bytes === logical ? '' : `, ${rate(bytes)} of the file`
  report(
    name,
    `${(bytes / 1e6).toFixed(1)} MB in ${cpuMs.toFixed(0)} ms CPU (${wallMs.toFixed(0)} ms wall), ${rate(logical)} of data${file}${more}`,
    '>= 50 MB/s of data',
    logical / 1e3 / cpuMs >= 50,
  )
}

async function alerts(shop: MatrixDeps): Promise<void> {
  const snapshot = shop.snapshotCache.current('squeeze', 'live')
  if (!isSnapshot(snapshot)) throw new Error('no snapshot of squeeze')
  const symbols = [...snapshot.rowsOf.keys()]
  const rules = Array.from(
    { length: 10_000 },
    (_, i) => `squeeze:${symbols[i % symbols.length]}:score>=${(i % 97) + 0.5}`,
  )
  const wallet = `0x${'1'.repeat(40)}`
  await shop.database.query(
    `insert into notification_endpoint (id, wallet, kind, target, state, created_at, changed_at)
     values ('nep_bench', $1, 'webhook', 'https://example.com/', 'active', now(), now())`,
    [wallet],
  )
  await shop.database.query(
    `insert into notification_watch (id, wallet, endpoint, topic, subject, paid, created_at)
     select 'nwt_' || place, $1, 'nep_bench', $2, rule, false, now() from unnest($3::text[]) with ordinality as r (rule, place)
     on conflict do nothing`,
    [wallet, alertTopic.name, rules],
  )
  const published = createNotifications(shop, new Map([[alertTopic.name, alertTopic]]))
  const events = { ...published, declare: () => {} }
  await checkAlerts({ ...shop, events })
  // As after a snapshot in which all of them begin to hold or cease to.
  await shop.database.query(`update matrix_alert set sha256 = decode($1, 'hex'), holds = false`, ['0'.repeat(64)])
  const run = await timed(() => checkAlerts({ ...shop, events }))
  report(
    '10,000 alert rules after a snapshot',
    `${run.wallMs.toFixed(0)} ms wall, ${run.cpuMs.toFixed(0)} ms CPU here, ${run.result} alerts`,
    '<= 1,000 ms',
    run.wallMs <= 1_000,
  )
  const job = alertJob({ ...shop, events })
  await job.work()
  const every = await timed(() => checkAlerts({ ...shop, events }))
  const idle = await timed(() => job.work())
  process.stdout.write(
    `             a round with nothing new: ${idle.wallMs.toFixed(1)} ms instead of ${every.wallMs.toFixed(0)} ms\n`,
  )
}

async function fiveYears(shop: MatrixDeps): Promise<void> {
  const method = currentMethod.name
  const symbols = Array.from({ length: 300 }, (_, i) => `ZZ${i}`)
  const days = tradingDaysUpTo('2026-11-13', 1_260)
  const figures = new Float32Array(symbols.length * figureNames(method).length).fill(1.5)
  for (const day of days)
    await keepScoredDay(shop.database, { feed: 'squeeze', day, key: '0'.repeat(64), method, symbols, figures })
  const runs: { wallMs: number; cpuMs: number }[] = []
  for (const symbol of symbols.slice(0, 100)) {
    const names = [{ symbol, after: '0000-01-01', before: '9999-12-31' }]
    const query = { feed: 'squeeze' as const, names, since: days[0] as string, until: '2026-11-13' }
    runs.push(await timed(() => readScores(shop.database, query)))
  }
  const wallMs = median(runs.map((run) => run.wallMs))
  const cpuMs = median(runs.map((run) => run.cpuMs))
  report(
    'five years of one symbol',
    `p50 ${wallMs.toFixed(1)} ms wall, ${cpuMs.toFixed(1)} ms CPU here`,
    '<= 10 ms',
    wallMs <= 10,
  )
  await fiveYearsOfSources(shop, days)
}

/** With everything that is kept of each of its days: volumes and prices of 1,260 files each. */
async function fiveYearsOfSources(shop: MatrixDeps, days: readonly string[]): Promise<void> {
  const few = createDemoSecurities(40)
  const first = shop.fileCache.known('prices', Date.now()).at(-1)?.asOf ?? '9999'
  for (const day of days.filter((one) => one < first))
    for (const file of [shortVolumeFile(few, day), priceFile(few, day)])
      await ingestFile(shop, { ...file, synthetic: true })
  await shop.fileCache.refresh(shop.database)
  const query = {
    feed: 'squeeze' as const,
    days: 1_260,
    knownAtMs: Date.now(),
    sinceDate: addDays(days[0] as string, -1),
  }
  const deps = { sql: shop.database, fileCache: shop.fileCache, symbols: shop.symbols, licences: shop.licences }
  const runs: { wallMs: number; cpuMs: number }[] = []
  for (const { symbol } of few) runs.push(await timed(() => readHistory(deps, { ...query, symbol }, 'paid')))
  process.stdout.write(
    `             the same with all of its sources: p50 ${median(runs.map((run) => run.wallMs)).toFixed(0)} ms wall, ${median(runs.map((run) => run.cpuMs)).toFixed(0)} ms CPU here\n`,
  )
}
