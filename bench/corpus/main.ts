// npx tsx bench/corpus/main.ts [pages]: generated sites with all difficulties, crawled, indexed and asked about
import { askGenerated } from '../../packages/node/src/shops/match/ask-generated.fixture.ts'
import { openThreadEngine } from '../../packages/node/src/shops/match/thread-engine-adapter.ts'
import { openSourceWorld } from '../../packages/node/src/shops/sources/sources.fixture.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'

const pages = Number(process.argv[2] ?? 10_000)
const world = await openSourceWorld()
const engine = openThreadEngine({ log: silentLog, onLost: () => {} })
const start = performance.now()
const { pagesRead, answered, refused, forbiddenOffered, copiesOffered } = await askGenerated(world, engine, {
  pages,
  perSite: 50,
  questionsMax: 800,
})
console.log(`${pagesRead} pages read and asked about in ${Math.round((performance.now() - start) / 1_000)} s`)
console.table([...answered].map(([difficulty, row]) => ({ difficulty, ...row })))
console.table([...refused].map(([why, row]) => ({ why, ...row })))
console.log(`offered though forbidden: ${forbiddenOffered.length}; copies beside each other: ${copiesOffered.length}`)
await engine.stop()
await world.close()
process.exit(0)
