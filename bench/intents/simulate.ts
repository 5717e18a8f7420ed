// npx tsx bench/intents/simulate.ts: signal to noise of the intent stream by traffic, with default settings. Writes the table
// of docs/intents.md; exit code 1 when fewer than nine in ten figures are within their error bars.
import { readFileSync, writeFileSync } from 'node:fs'
import { createClusterTable } from '../../packages/node/src/shops/intents/clusters.ts'
import { seededRng } from '../../packages/node/src/shops/intents/rng.fixture.ts'
import { parseIntentSettings } from '../../packages/node/src/shops/intents/settings.ts'
import { simulateDay } from '../../packages/node/src/shops/intents/simulate-signal.ts'

const file = new URL('../../docs/intents.md', import.meta.url)
const book = createClusterTable()
const topics = { childrenOf: book.childrenOf, wordsOf: () => [] }
const settings = parseIntentSettings({}, false)
const seeds = [29, 30, 31, 32, 33, 34, 35, 36]
const mean = (values: readonly (number | null)[]) => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}
const days = [30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000].map((agents) => {
  const runs = seeds.map((seed) => simulateDay(seededRng(seed), settings, topics, agents))
  const [first] = runs as [(typeof runs)[number]]
  return {
    ...first,
    figures: mean(runs.map(({ figures }) => figures)) ?? 0,
    error: mean(runs.map(({ error }) => error)),
    covered: mean(runs.map(({ covered }) => covered)),
    sold: runs.filter(({ sold }) => sold).length * 2 > seeds.length,
  }
})
const percent = (part: number | null) => (part === null ? '–' : `${(part * 100).toFixed(1)} %`)
const rows = days.map(
  ({ agents, plan, figures, error, covered, sold }) =>
    `| ${agents.toLocaleString('en')} | ${plan.bucketMs / 3_600_000} h | ${plan.tiers} | ${figures.toFixed(1)} | ${percent(error)} | ${percent(covered)} | ${sold ? 'yes' : 'no'} |`,
)
const table = [
  '| agents a day | bucket | tiers | topics shown | 95 % error of demand | figures within their error | sold |',
  '|---|---|---|---|---|---|---|',
  ...rows,
].join('\n')
const [head = '', , tail = ''] = readFileSync(file, 'utf8').split(/<!-- \/?signal -->/)
writeFileSync(file, `${head}<!-- signal -->\n${table}\n<!-- /signal -->${tail}`)
process.stdout.write(`${table}\n`)
process.exitCode = days.every(({ sold, covered }) => !sold || (covered ?? 0) > 0.9) ? 0 : 1
