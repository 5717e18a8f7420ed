// npx tsx bench/options/main.ts [--buys 3000] [--lives 0]: the figures of the options exchange; exit code 1 when one is
// missed. `--lives 100000` also plays so many random lives of options and checks the books after each round; `--buys 0` leaves the buys out.
// With `--promise` it ends with 1 only when the books are wrong; a missed speed is printed.
import { rm } from 'node:fs/promises'
import { runOptionLives } from '../../packages/node/src/shops/options/option-lives.fixture.ts'
import { openTestDatabase, startTestServer, testServerVariable } from '../../packages/till/src/store/testing.ts'
import { handOut } from '../hand-out.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import { measureBook } from './measure-book.ts'
import { measureBuys } from './measure-buys.ts'
import { measureIndex } from './measure-index.ts'

const option = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}

const book = measureBook()
const index = measureIndex()
const home = await temporaryHome()
try {
  const buys = option('buys', 3_000) > 0 ? await measureBuys(home, option('buys', 3_000)) : undefined
  const lives = option('lives', 0) > 0 ? await playLives(option('lives', 0)) : undefined
  process.stdout.write(
    `${JSON.stringify({ book, index, buys, lives }, (_, value) => (typeof value === 'bigint' ? value.toString() : value), 2)}\n`,
  )
  handOut(
    {
      figure: 'order book',
      asked: `${book.required_per_second}/s`,
      measured: `${book.per_second}/s`,
      reached: book.per_second >= book.required_per_second,
    },
    {
      figure: `index and ${index.series} series of ${index.clusters} clusters`,
      asked: `${index.required_ms} ms`,
      measured: `${index.median_ms} ms median, slowest ${index.slowest_ms} ms`,
      reached: index.median_ms < index.required_ms,
    },
    ...(buys === undefined
      ? []
      : [
          {
            figure: 'durable buys end to end, settlement stubbed, 192 connections',
            asked: `${buys.required_per_second}/s`,
            measured: `${buys.per_second}/s; CPU each: node ${buys.node_cpu_micros}, database ${buys.database_cpu_micros} µs`,
            reached: buys.per_second >= buys.required_per_second && buys.statuses['200'] === buys.count,
          },
        ]),
  )
  const promised =
    (buys === undefined || buys.statuses['200'] === buys.count) &&
    (lives === undefined || (lives.differenceMicro === 0n && lives.short === 0))
  const reached =
    book.per_second >= book.required_per_second &&
    index.median_ms < index.required_ms &&
    (buys === undefined || buys.per_second >= buys.required_per_second)
  process.exitCode = promised && (reached || process.argv.includes('--promise')) ? 0 : 1
} finally {
  await rm(home, { recursive: true, force: true })
}

async function playLives(count: number) {
  const server = await startTestServer()
  process.env[testServerVariable] = server.url
  const db = await openTestDatabase()
  try {
    const startedAt = performance.now()
    const report = await runOptionLives(db.database, count, 11)
    return { ...report, seconds: Math.round((performance.now() - startedAt) / 1000) }
  } finally {
    await db.close()
    await server.stop()
  }
}
