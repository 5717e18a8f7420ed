import { type IndexInput, indexMethod, indexValueE4, sharesAt } from './demand-index.ts'
import { interestPerSide } from './open-interest.ts'
import { settlementValue } from './settlement-value.ts'

/** Topics with steady crowds; the attacker comes on top of them. Every second topic lies below the one before it. */
export type Market = { crowds: readonly number[]; agentMicro: bigint }

export type Attack = {
  /** Which topic is asked for; `new` opens topics that nobody asks for. */
  at: number | 'new'
  agents: number
  /** Buckets before the expiry in which they ask. */
  buckets: number
  /** Of opened topics: each bucket others, or always the same. */
  rotate: boolean
}

export type Outcome = { attack: Attack; profitMicro: number; spentMicro: number; movedPoints: number }

const hour = 3_600_000
const method = indexMethod(hour, 6 * hour)
const window = 24
const searchMicro = 1_000
const rules = { windowMs: window * hour, tickMs: hour, agentsMin: 10, extensionsMax: 0 }
const points = window + method.lookback

/**
 * The best of all attacks on a grid, for an attacker who holds everything that may be open: all calls and written puts of
 * what rises, all puts and written calls of what falls, times `times`. Spends are what does not come back.
 */
export function bestAttack(market: Market, times: number): Outcome {
  const calm = settle(market, undefined)
  const limits = market.crowds.map((agents, at) => {
    const { valueE4, share } = calm[at] as Settled
    return Number(interestPerSide({ agents, share, indexE4: valueE4 }, market.agentMicro, market.crowds.length))
  })
  let best: Outcome | undefined
  for (const attack of attacks(market)) {
    const pushed = settle(market, attack, calm)
    let gainMicro = 0
    let movedPoints = 0
    for (const [at, limit] of limits.entries()) {
      const moved = Math.abs(Number((pushed[at] as Settled).valueE4 - (calm[at] as Settled).valueE4)) / 10_000
      movedPoints = Math.max(movedPoints, moved)
      // Both sides earn: what is bought of the one and what is written of the other.
      gainMicro += 2 * times * limit * moved
    }
    const spentMicro = attack.agents * (Number(market.agentMicro) + attack.buckets * searchMicro)
    const outcome = { attack, profitMicro: gainMicro - spentMicro, spentMicro, movedPoints }
    if (!best || outcome.profitMicro > best.profitMicro) best = outcome
  }
  return best as Outcome
}

/** Agents that a topic needs to be published at all. */
const newTopic = 10
const sizes = [1, 10, 50, 300]
const lengths = [1, 6, 12, 13, 24, 48, 72]

function* attacks({ crowds }: Market): Iterable<Attack> {
  for (const buckets of lengths) {
    for (const agents of sizes) for (const at of crowds.keys()) yield { at, agents, buckets, rotate: false }
    for (const topics of [1, 5, 30])
      for (const rotate of [false, true]) yield { at: 'new', agents: topics * newTopic, buckets, rotate }
  }
}

type Settled = { valueE4: bigint; share: number }
const nameOf = (at: number) => `t${String(at).padStart(3, '0')}`

/** Settlement values of every topic, with the base that makes each 100 in calm. */
function settle(market: Market, attack: Attack | undefined, calm?: readonly Settled[]): Settled[] {
  const inputs: IndexInput[] = []
  for (let point = 1; point <= points; point += 1)
    for (const [cluster, bonded] of crowdsAt(market, attack, point))
      inputs.push({ cluster, startsAtMs: (point - 1) * hour, endsAtMs: point * hour, bonded })
  const ticks = Array.from({ length: window }, (_, n) => sharesAt(method, inputs, (points - window + n + 1) * hour))
  return market.crowds.map((_, at) => {
    const mine = ticks.flatMap((all) => all.filter(({ cluster }) => cluster === nameOf(at)))
    const base = calm ? Math.round((calm[at] as Settled).share * 1e12) : (mine[0]?.shareE12 ?? 1)
    const value = settlementValue(
      rules,
      mine.map(({ atMs, shareE12, agents }) => ({ atMs, valueE4: indexValueE4(shareE12, base), agents })),
      points * hour,
      points * hour,
    )
    if (value.status !== 'fixed') throw new Error('a topic of the market has too few agents')
    return { valueE4: value.valueE4, share: base / 1e12 }
  })
}

function crowdsAt({ crowds }: Market, attack: Attack | undefined, point: number): Map<string, number> {
  const counted = new Map(crowds.map((agents, at) => [nameOf(at), agents]))
  if (!attack || point <= points - attack.buckets) return counted
  const add = (name: string, agents: number) => counted.set(name, (counted.get(name) ?? 0) + agents)
  if (attack.at !== 'new') {
    add(nameOf(attack.at), attack.agents)
    // What lies above a topic counts its agents too.
    if (attack.at % 2 === 1) add(nameOf(attack.at - 1), attack.agents)
    return counted
  }
  const topics = Math.floor(attack.agents / newTopic)
  for (let n = 0; n < topics; n += 1)
    for (const tier of ['x', 'y']) add(`${tier}${n}${attack.rotate ? `-${point % 40}` : ''}`, newTopic)
  return counted
}
