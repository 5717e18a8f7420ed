// npx tsx bench/matrix/walk-forward.ts [--choose] [--from 2021-05] [--to 2021-07] [folder ...]: published files through the real
// path, then the lift of the score by month beside simple rankings. With --choose also the candidates it was chosen from.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadAsOfView } from '../../packages/node/src/shops/matrix/as-of/load-view.ts'
import { feeds } from '../../packages/node/src/shops/matrix/feeds/catalogue.ts'
import { ingestFile } from '../../packages/node/src/shops/matrix/ingest/ingest-file.ts'
import { createLicencePolicy } from '../../packages/node/src/shops/matrix/licences/licence-policy.ts'
import { compareWithBaselines } from '../../packages/node/src/shops/matrix/quality/compare.ts'
import { type Evaluation, evaluate } from '../../packages/node/src/shops/matrix/quality/evaluate.ts'
import { testDefinition } from '../../packages/node/src/shops/matrix/quality/test-definition.ts'
import { buildSnapshot } from '../../packages/node/src/shops/matrix/snapshots/build-snapshot.ts'
import { isSnapshot } from '../../packages/node/src/shops/matrix/snapshots/snapshot-cache.ts'
import { archiveFiles } from './archive-files.ts'
import { candidates } from './candidates.ts'
import { openBenchShop } from './shop.ts'
import { showCandidates, showComparison } from './show-lifts.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { choose: { type: 'boolean' }, from: { type: 'string' }, to: { type: 'string' } },
})
const folders = positionals.length > 0 ? positionals : [fileURLToPath(new URL('../../../shared/data', import.meta.url))]
const missing = folders.filter((folder) => !existsSync(folder))
if (missing.length > 0) {
  process.stdout.write(`no archive of published files at ${missing.join(', ')}; nothing to evaluate\n`)
  process.exit(0)
}
const depth = testDefinition.depths[1]
const { deps, close } = await openBenchShop()
try {
  let count = 0
  for (const file of archiveFiles(folders)) {
    const outcome = await ingestFile(deps, file)
    count += 1
    if (outcome.status === 'refused') process.stdout.write(`refused ${file.name}: ${outcome.code} ${outcome.detail}\n`)
    if (count % 20 === 0) process.stderr.write(`\r  ${count} files   `)
  }
  await deps.fileCache.refresh(deps.database)
  const view = { sql: deps.database, fileCache: deps.fileCache, symbols: deps.symbols }
  const found = await evaluate(
    {
      ...view,
      yieldToEventLoop: async () => {},
      onProgress: (done, of) => process.stderr.write(`\r  day ${done} of ${of}   `),
      ...(options.choose ? { recipes: candidates } : {}),
    },
    [{ feed: 'squeeze', universe: 'shares' }],
    Number.MAX_SAFE_INTEGER,
  )
  process.stderr.write('\n')
  const { days } = found.get('squeeze') as Evaluation
  const asked = days.filter(({ date }) => date >= (options.from ?? '') && date.slice(0, 7) <= (options.to ?? '9999'))
  showComparison(compareWithBaselines(asked, 'score', { depth, blockDays: testDefinition.horizon_days }))
  if (options.choose) showCandidates(asked, Object.keys(candidates), depth)
  await showNames(view)
} finally {
  await close()
}

/** Where the names that made the news were on the mornings before. */
async function showNames(view: Parameters<typeof loadAsOfView>[0]): Promise<void> {
  // Whatever the terms, an operator may look at its own ranking.
  const licences = createLicencePolicy({
    demo: false,
    assertions: (['finra-short-interest', 'finra-short-volume', 'nasdaq-directory', 'prices'] as const).map(
      (source) => ({ source, allows: 'paid', assertedBy: 'bench', assertedAt: '2026-01-01', reference: 'evaluation' }),
    ),
  })
  for (const day of ['2021-01-13', '2021-01-22', '2021-01-25', '2021-01-27']) {
    const snapshot = await buildSnapshot(
      await loadAsOfView(view, Date.parse(`${day}T14:29:59Z`)),
      feeds.squeeze,
      licences,
      'paid',
    )
    if (!isSnapshot(snapshot)) continue
    const places = ['GME', 'AMC', 'KOSS', 'EXPR', 'BB', 'NOK', 'BBBY'].map((symbol) => {
      const row = snapshot.rowsOf.get(symbol)?.[0]
      return `${symbol} ${row === undefined ? (snapshot.excludedReason.get(symbol) ?? '-') : `#${row + 1}`}`
    })
    process.stdout.write(`${day} before the open, of ${snapshot.manifest.row_count}: ${places.join(', ')}\n`)
  }
}
