import { smallerOf } from '@assay/protocol/money'
import { cappedValue } from './black76.ts'
import { type IndexInput, indexMethod, indexValueE4, sharesAt } from './demand-index.ts'
import { interestPerSide } from './open-interest.ts'
import { settlementValue } from './settlement-value.ts'
import { vaultBid } from './vault-bid.ts'

/** Topics with steady crowds; the attacker comes on top of them. Every second topic is below the one before it. */
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

/**
 * How the contracts are left: held until they expire, also with half of them written by own wallets against own bids; sold
 * back to the vault at once, or after a sale to an own wallet at the highest premium; or ended by a void that is caused.
 */
export type Exit = 'expiry' | 'half with itself' | 'vault' | 'vault after own sale' | 'void'

export type Outcome = { attack: Attack; exit: Exit; profitMicro: number; spentMicro: number; movedPoints: number }

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
export function bestAttack(market: Market, times: number, exits = Object.keys(gains) as Exit[]): Outcome {
  const calm = settle(market, undefined)
  const limits = market.crowds.map((agents, at) => {
    const { valueE4, share } = calm[at] as Settled
    return Number(interestPerSide({ agents, share, indexE4: valueE4 }, market.agentMicro, market.crowds.length))
  })
  let best: Outcome | undefined
  for (const attack of attacks(market)) {
    const pushed = settle(market, attack, calm)
    const moves = limits.map((limit, at) => ({
      limit: times * limit,
      from: calm[at] as Settled,
      to: pushed[at] as Settled,
    }))
    const movedPoints = Math.max(...moves.map(pointsOf))
    const spentMicro = attack.agents * (Number(market.agentMicro) + attack.buckets * searchMicro)
    for (const exit of exits) {
      const gainMicro = moves.reduce((sum, move) => sum + gains[exit](move), 0)
      const outcome = { attack, exit, profitMicro: gainMicro - spentMicro, spentMicro, movedPoints }
      if (!best || outcome.profitMicro > best.profitMicro) best = outcome
    }
  }
  return best as Outcome
}

type Move = { limit: number; from: Settled; to: Settled }
const pointsOf = ({ from, to }: Move) => Math.abs(Number(to.valueE4 - from.valueE4)) / 10_000

/** Both sides earn: what is bought of the one and what is written of the other. */
const held = (move: Move) => 2 * move.limit * pointsOf(move)

/** Bought at the money a week before the expiry, sold back in the same hour on the pushed index. */
function soldBack({ limit, from, to }: Move, paidUp: boolean): number {
  const sizeMicro = 1_000_000
  const kind = to.valueE4 < from.valueE4 ? ('P' as const) : ('C' as const)
  const valueAt = (valueE4: bigint): bigint => {
    const terms = { kind, strike: Number(from.valueE4) / 10_000, width: 100, volatility: 0.9, years: 7 / 365.25 }
    return BigInt(Math.floor(sizeMicro * cappedValue({ ...terms, forward: Number(valueE4) / 10_000 }).price))
  }
  const writtenMicro = valueAt(from.valueE4)
  const paidMicro = paidUp ? (writtenMicro * 120n) / 50n : writtenMicro
  // At the index of now or at the median of a window, whichever is less.
  const valueMicro = smallerOf(valueAt(to.newestE4), valueAt(to.valueE4))
  return (limit / sizeMicro) * Number(vaultBid(valueMicro, { writtenMicro, paidMicro }) - writtenMicro)
}

/** What a sale between own wallets brings is paid by the buyer, so it appears in none of them. */
const gains: Record<Exit, (move: Move) => number> = {
  expiry: held,
  'half with itself': (move) => held(move) / 2,
  vault: (move) => soldBack(move, false),
  'vault after own sale': (move) => soldBack(move, true),
  // Everybody gets back what was paid in.
  void: () => 0,
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

type Settled = { valueE4: bigint; newestE4: bigint; share: number }
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
    const newestE4 = indexValueE4(mine.at(-1)?.shareE12 ?? base, base)
    return { valueE4: value.valueE4, newestE4, share: base / 1e12 }
  })
}

function crowdsAt({ crowds }: Market, attack: Attack | undefined, point: number): Map<string, number> {
  const counted = new Map(crowds.map((agents, at) => [nameOf(at), agents]))
  if (!attack || point <= points - attack.buckets) return counted
  const add = (name: string, agents: number) => counted.set(name, (counted.get(name) ?? 0) + agents)
  if (attack.at !== 'new') {
    add(nameOf(attack.at), attack.agents)
    // What is above a topic counts its agents too.
    if (attack.at % 2 === 1) add(nameOf(attack.at - 1), attack.agents)
    return counted
  }
  const topics = Math.floor(attack.agents / newTopic)
  for (let n = 0; n < topics; n += 1)
    for (const tier of ['x', 'y']) add(`${tier}${n}${attack.rotate ? `-${point % 40}` : ''}`, newTopic)
  return counted
}
