// npx tsx bench/options/main.ts [--buys 3000] [--lives 0]: the figures of the options exchange. `--lives 100000` also plays
// so many random lives of options and checks the books after each round; `--buys 0` leaves the buys out. With `--promise`
// it ends with 1 only when the books are wrong or an attack earns; a missed speed is printed. `--attacks` runs the search over
// attacks on the index alone and writes its table into docs/options.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { runOptionLives } from '../../packages/node/src/shops/options/option-lives.fixture.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'
import type { FigureRow } from '../report-figures.ts'
import { runBench } from '../run-bench.ts'
import { measureBuys } from './measure-buys.ts'
import { measureIndex } from './measure-index.ts'
import { measureOrderBook } from './measure-order-book.ts'
import { attackTable, searchAttacks } from './search-attacks.ts'

const attacks = searchAttacks()
if (process.argv.includes('--attacks')) {
  const file = new URL('../../docs/options.md', import.meta.url)
  const [head = '', , tail = ''] = readFileSync(file, 'utf8').split(/<!-- \/?attacks -->/)
  writeFileSync(file, `${head}<!-- attacks -->\n${attackTable(attacks)}\n<!-- /attacks -->${tail}`)
  process.stdout.write(`${attackTable(attacks)}\n`)
  process.exit(attacks.every(({ best }) => best.profitMicro <= 0) ? 0 : 1)
}

await runBench(async ({ home, openServer, option, flag, note }) => {
  const speed = flag('promise') ? () => null : (reached: boolean) => reached
  const book = measureOrderBook()
  const index = measureIndex()
  const rows: FigureRow[] = [
    {
      figure: 'order book',
      asked: `${book.required_per_second}/s`,
      measured: `${book.per_second}/s`,
      reached: speed(book.per_second >= book.required_per_second),
    },
    {
      figure: `index and ${index.series} series of ${index.clusters} clusters`,
      asked: `${index.required_ms} ms`,
      measured: `${index.median_ms} ms median, slowest ${index.slowest_ms} ms`,
      reached: speed(index.median_ms < index.required_ms),
    },
  ]
  const earned = Math.max(...attacks.map(({ best }) => best.profitMicro))
  rows.push({
    figure: `best attack on the index in ${attacks.length} markets, holding all that may be open`,
    asked: 'no profit',
    measured: `${(earned / 1e6).toFixed(4)} USD`,
    reached: earned <= 0,
  })
  if (option('buys', 3_000) > 0) {
    const buys = await measureBuys(home, option('buys', 3_000))
    const bought = buys.statuses['200'] === buys.count
    rows.push({
      figure: 'durable buys end to end, settlement stubbed, 192 connections',
      asked: `${buys.required_per_second}/s`,
      measured: `${buys.per_second}/s; CPU each: node ${buys.node_cpu_micros}, database ${buys.database_cpu_micros} µs`,
      reached: bought && speed(buys.per_second >= buys.required_per_second),
    })
  }
  if (option('lives', 0) > 0) {
    await openServer()
    const db = await openTestDatabase()
    const lives = await runOptionLives(db.database, option('lives', 0), 11).finally(() => db.close())
    note('lives', lives)
    rows.push({
      figure: `${option('lives', 0)} lives of options, books checked after each round`,
      asked: 'no difference',
      measured: `${lives.differenceMicro} micro-USDC, ${lives.short} short`,
      reached: lives.differenceMicro === 0n && lives.short === 0,
    })
  }
  return rows
})
