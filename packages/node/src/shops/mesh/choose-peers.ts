import type { Rng } from '@assay/till/kernel/random'
import { getDomain } from 'tldts'
import { parseIp } from '../../outbound/index.ts'

/** What the choice of peers depends on. Identities cost nothing; address blocks, domains and age do. */
export type Placed = {
  did: string
  address: string
  foundBy: 'seed' | 'announce' | 'gossip'
  networkAddress: string | undefined
  firstSeenAtMs: number | undefined
  /** Its prices were checked and nothing was wrong. */
  proven: boolean
  health: number
  operator: string | undefined
  /** What its operator put at stake or paid here, and a registration on chain: see weigh-peers.ts. */
  weight: number
}

/** After this long alive, a peer has a place that newcomers cannot take. */
const longLivedMs = 86_400_000
/** From this weight on, a dollar at stake or a name on chain, a place is kept as well. */
const keptWeight = 1
/** With more peers than this multiple of the places, a random sample is checked for diversity. */
const sampleFactor = 4

/** /24 of IPv4, /48 of IPv6: what one customer of a provider gets at little cost. */
export function addressBlock(networkAddress: string | undefined): string {
  const ip = networkAddress === undefined ? undefined : parseIp(networkAddress)
  if (ip === undefined) return networkAddress ?? ''
  return ip.version === 4 ? `4:${ip.value >> 8n}` : `6:${ip.value >> 80n}`
}

export function registrableDomain(address: string): string {
  const { hostname } = new URL(address)
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
}

type Groups = { block: string; domain: string }
const groupsOf = (peer: Placed): Groups => ({
  block: blockOf(peer.networkAddress ?? ''),
  domain: domainOf(peer.address),
})

const rememberedMax = 20_000
/** Names and addresses are checked again with every newcomer. */
function remembered(read: (text: string) => string): (text: string) => string {
  const all = new Map<string, string>()
  return (text) => {
    const known = all.get(text)
    if (known !== undefined) return known
    if (all.size >= rememberedMax) all.clear()
    const made = read(text)
    all.set(text, made)
    return made
  }
}
const domainOf = remembered(registrableDomain)
const blockOf = remembered(addressBlock)

function countByGroup() {
  const blocks = new Map<string, number>()
  const domains = new Map<string, number>()
  return {
    add: ({ block, domain }: Groups) => {
      blocks.set(block, (blocks.get(block) ?? 0) + 1)
      domains.set(domain, (domains.get(domain) ?? 0) + 1)
    },
    sizeOf: ({ block, domain }: Groups) => (blocks.get(block) ?? 0) + (domains.get(domain) ?? 0),
  }
}

const ageOrder = (a: Placed, b: Placed) =>
  (a.firstSeenAtMs ?? Number.POSITIVE_INFINITY) - (b.firstSeenAtMs ?? Number.POSITIVE_INFINITY) ||
  a.did.localeCompare(b.did)

/** Seeds, the oldest of those that have been here long, and those with most weight: each up to a quarter of the places. */
function keptOf(peers: readonly Placed[], places: number, nowMs: number): Set<Placed> {
  const old = peers.filter(({ firstSeenAtMs }) => firstSeenAtMs !== undefined && nowMs - firstSeenAtMs >= longLivedMs)
  const quarter = Math.ceil(places / 4)
  const oldest = old.toSorted(ageOrder).slice(0, quarter)
  const heavy = peers.filter(({ weight }) => weight >= keptWeight)
  const heaviest = heavy.toSorted((a, b) => b.weight - a.weight || ageOrder(a, b)).slice(0, quarter)
  return new Set([...peers.filter(({ foundBy }) => foundBy === 'seed'), ...oldest, ...heaviest])
}

/** In the order in which peers are listed: those with a kept place, then those that add most diversity, proven before not, old before new. */
export function chooseShown<T extends Placed>(peers: readonly T[], limit: number, nowMs: number, rng: Rng): T[] {
  const crowds = countByGroup()
  const kept = keptOf(peers, limit, nowMs)
  const few = peers.length <= limit * sampleFactor
  const sampled = few ? peers : [...kept, ...sample(peers, limit * sampleFactor, rng).filter((one) => !kept.has(one))]
  const open = new Map((sampled as T[]).toSorted(byWorth).map((peer) => [peer, groupsOf(peer)]))
  const chosen: T[] = []
  const take = (peer: T, groups: Groups) => {
    chosen.push(peer)
    crowds.add(groups)
    open.delete(peer)
  }
  for (const [peer, groups] of [...open]) if (kept.has(peer) && chosen.length < limit) take(peer, groups)
  while (chosen.length < limit && open.size > 0) {
    let best: { peer: T; groups: Groups; size: number } | undefined
    for (const [peer, groups] of open) {
      const size = crowds.sizeOf(groups)
      if (best === undefined || size < best.size) best = { peer, groups, size }
      if (size === 0) break
    }
    if (best !== undefined) take(best.peer, best.groups)
  }
  return chosen
}

/** A random sample of `count` items. */
export function sample<T>(items: readonly T[], count: number, rng: Rng): T[] {
  const left = [...items]
  for (let place = 0; place < Math.min(count, left.length); place += 1) {
    const other = place + (Buffer.from(rng.bytes(4)).readUInt32BE() % (left.length - place))
    ;[left[place], left[other]] = [left[other] as T, left[place] as T]
  }
  return left.slice(0, count)
}

const byWorth = (a: Placed, b: Placed) => b.weight - a.weight || Number(b.proven) - Number(a.proven) || ageOrder(a, b)

type Crowded = { peer: Placed; size: number }
/** Eviction order: largest group, then least weight, unproven, newest. */
const byEvictionOrder = (a: Crowded, b: Crowded) =>
  b.size - a.size ||
  a.peer.weight - b.peer.weight ||
  Number(a.peer.proven) - Number(b.peer.proven) ||
  ageOrder(b.peer, a.peer)

export type Admission = { status: 'admit' } | { status: 'replace'; did: string } | { status: 'refuse'; problem: string }

/**
 * Whether a newcomer gets a place. While there is room everybody does, but for many names of one domain at one address;
 * after that it takes the place of one from a greater crowd than its own, never of one with a kept place.
 */
export function admitPeer(
  peers: readonly Placed[],
  newcomer: Placed,
  limits: { peersMax: number; peersPerAddressMax: number; nowMs: number },
): Admission {
  const groups = groupsOf(newcomer)
  const same = peers.filter(
    (peer) => peer.networkAddress === newcomer.networkAddress && domainOf(peer.address) === groups.domain,
  )
  if (same.length >= limits.peersPerAddressMax)
    return { status: 'refuse', problem: 'full: too many nodes of one domain at one network address' }
  if (peers.length < limits.peersMax) return { status: 'admit' }
  const crowds = countByGroup()
  for (const peer of peers) crowds.add(groupsOf(peer))
  crowds.add(groups)
  const kept = keptOf(peers, limits.peersMax, limits.nowMs)
  const own = newcomer.foundBy === 'seed' ? 0 : crowds.sizeOf(groups)
  let last: Crowded | undefined
  for (const peer of peers) {
    if (kept.has(peer)) continue
    const one = { peer, size: crowds.sizeOf(groupsOf(peer)) }
    if (last === undefined || byEvictionOrder(one, last) < 0) last = one
  }
  if (last === undefined || last.size <= own) return { status: 'refuse', problem: 'full: this node knows enough peers' }
  return { status: 'replace', did: last.peer.did }
}
