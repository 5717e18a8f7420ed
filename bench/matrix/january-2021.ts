// npx tsx bench/matrix/january-2021.ts [folder]: the published files of the winter of 2020/21 through the real path, and how the score did.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadWorld } from '../../packages/node/src/shops/matrix/as-of/load-view.ts'
import { feeds } from '../../packages/node/src/shops/matrix/feeds/catalogue.ts'
import { ingestFile } from '../../packages/node/src/shops/matrix/ingest/ingest-file.ts'
import { createLicenceGate } from '../../packages/node/src/shops/matrix/licences/gate.ts'
import { qualityOf } from '../../packages/node/src/shops/matrix/quality/quality-document.ts'
import { buildSnapshot } from '../../packages/node/src/shops/matrix/snapshots/build-snapshot.ts'
import { isSnapshot } from '../../packages/node/src/shops/matrix/snapshots/keeper.ts'
import { archiveFiles } from './january-2021-files.ts'
import { openBenchShop } from './shop.ts'

const folder = process.argv[2] ?? fileURLToPath(new URL('../../../shared/data', import.meta.url))
if (!existsSync(`${folder}/finra-short-volume`)) {
  process.stdout.write('the archive of published files is not here; nothing to evaluate\n')
  process.exit(0)
}
const { deps, close } = await openBenchShop()
try {
  let count = 0
  for (const file of archiveFiles(folder)) {
    const outcome = await ingestFile(deps, file)
    count += 1
    if (outcome.status === 'refused') process.stdout.write(`refused ${file.name}: ${outcome.code} ${outcome.detail}\n`)
    if (count % 20 === 0) process.stderr.write(`  ${count} files\n`)
  }
  await deps.fileCache.refresh(deps.database)
  const world = { sql: deps.database, fileCache: deps.fileCache, symbols: deps.symbols }
  await showNames(world)
  const measured = await qualityOf(world, ['squeeze', 'short-interest', 'short-volume', 'ftd'], {
    daysMax: 60,
    breathe: async () => {},
    onProgress: (done, of) => process.stderr.write(`\r  day ${done} of ${of}   `),
  })
  for (const quality of measured.values()) process.stdout.write(`${JSON.stringify(quality, null, 1)}\n`)
} finally {
  await close()
}

/** Where the names that made the news stood on the mornings before. */
async function showNames(world: Parameters<typeof loadWorld>[0]): Promise<void> {
  // Whatever the terms, an operator may look at its own ranking.
  const gate = createLicenceGate({
    demo: false,
    assertions: (['finra-short-interest', 'finra-short-volume', 'nasdaq-directory', 'prices'] as const).map(
      (source) => ({ source, allows: 'paid', assertedBy: 'bench', assertedAt: '2026-01-01', reference: 'evaluation' }),
    ),
  })
  for (const day of ['2021-01-13', '2021-01-22', '2021-01-25', '2021-01-27']) {
    const snapshot = await buildSnapshot(
      await loadWorld(world, Date.parse(`${day}T14:29:59Z`)),
      feeds.squeeze,
      gate,
      'paid',
    )
    if (!isSnapshot(snapshot)) continue
    const places = ['GME', 'AMC', 'KOSS', 'EXPR', 'BB', 'NOK', 'BBBY'].map((symbol) => {
      const row = snapshot.rowsOf.get(symbol)?.[0]
      return `${symbol} ${row === undefined ? (snapshot.excludedReason.get(symbol) ?? '-') : `#${row + 1} (${snapshot.values[row]?.toFixed(1)})`}`
    })
    process.stdout.write(`${day} before the open, of ${snapshot.manifest.row_count}: ${places.join(', ')}\n`)
  }
}
