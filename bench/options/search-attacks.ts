import {
  bestAttack,
  type Market,
  type Outcome,
} from '../../packages/node/src/shops/options/domain/attack-search.fixture.ts'

/** Markets from lopsided to even, from small to large, with agents that cost their searches alone or 5 USD besides. */
const crowds: readonly (readonly number[])[] = [
  [60, 40, 30, 20],
  [400, 250, 120, 60, 30, 30, 20],
  [3_000, 2_000, 900, 500, 300, 200, 100, 100],
  [10_000, 100, 100, 50],
]
const agentPrices = [1_000n, 5_001_000n]

export type AttackRow = { market: Market; best: Outcome; looser: Outcome }

/** The best attack of the search on each market, for an attacker who holds all that may be open, and with eight times that. */
export function searchAttacks(): AttackRow[] {
  return crowds.flatMap((agents) =>
    agentPrices.map((agentMicro) => {
      const market = { crowds: agents, agentMicro }
      return { market, best: bestAttack(market, 1), looser: bestAttack(market, 8) }
    }),
  )
}

const usd = (micro: number) => (micro / 1e6).toFixed(micro < 1e6 && micro > -1e6 ? 4 : 2)

export function attackTable(rows: readonly AttackRow[]): string {
  return [
    '| agents by topic | an agent costs | best attack | way out | spent | index moved | profit | profit at 8 times the bound |',
    '|---|---|---|---|---|---|---|---|',
    ...rows.map(({ market, best, looser }) => {
      const { at, agents, buckets } = best.attack
      const what = `${agents} agents for ${buckets} buckets ${at === 'new' ? 'in new topics' : `in topic ${at + 1}`}`
      return `| ${market.crowds.join(', ')} | ${usd(Number(market.agentMicro))} | ${what} | ${best.exit} | ${usd(best.spentMicro)} | ${best.movedPoints.toFixed(2)} % | ${usd(best.profitMicro)} | ${usd(looser.profitMicro)} |`
    }),
  ].join('\n')
}
