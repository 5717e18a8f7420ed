import { createClusters } from './cluster-wallets.ts'

/** What a wallet received from one sender, as a share of all that it received, or has at stake if that is more. */
export type FundingShare = { wallet: string; funder: string; share: number }

/** How much of a wallet's money passed through a funder, and how many transfers away that funder is at least. */
export type Ancestor = { funder: string; share: number; hop: number }

export type FundingTrace = {
  /** Everyone a wallet's money passed through; shares are at least what they are. */
  funders(wallet: string): Ancestor[]
  /** The share of a wallet's money that passed through one funder, without money sent in a circle; each part counts once. */
  shareThrough(wallet: string, funder: string): number
}

/** Up to two transfers away a quarter of the money connects; farther away it must be half of it. */
const nearHops = 2
const shareNeeded = (hop: number) => (hop <= nearHops ? 0.25 : 0.5)

/** Who gave to each, in numbers: herds of hundreds that all pay each other must not stop the node. */
function numberWallets(shares: readonly FundingShare[]) {
  const numbers = new Map<string, number>()
  const numberOf = (wallet: string) => {
    const number = numbers.get(wallet) ?? numbers.size
    numbers.set(wallet, number)
    return number
  }
  const given: Given[] = []
  for (const { wallet, funder, share } of shares) {
    const [to, from] = [numberOf(wallet), numberOf(funder)]
    for (const number of [to, from]) given[number] ??= { funders: [], parts: [] }
    given[to]?.funders.push(from)
    given[to]?.parts.push(share)
  }
  return { numbers, names: [...numbers.keys()], given }
}

type Given = { funders: number[]; parts: number[] }
type Walk = {
  met: readonly number[]
  /** Share that came back to a wallet it had passed: it went round and says nothing of where it is from. */
  returned: number
}

/** Shares and distances of those met on the last walk stand in `found` and `hopOf`. */
function createWalker(given: readonly Given[], hops: number) {
  const [found, hopOf] = [new Float64Array(given.length), new Uint8Array(given.length)]
  let [reached, next] = [new Float64Array(given.length), new Float64Array(given.length)]
  let met: number[] = []

  const stepBack = (front: readonly number[]): number[] => {
    const touched: number[] = []
    for (const from of front) {
      const share = reached[from] as number
      const { funders, parts } = given[from] as Given
      for (let n = 0; n < funders.length; n += 1) {
        const funder = funders[n] as number
        if (next[funder] === 0) touched.push(funder)
        next[funder] = (next[funder] as number) + share * (parts[n] as number)
      }
      reached[from] = 0
    }
    ;[reached, next] = [next, reached]
    return touched
  }

  /** Shares of all paths are added, so money that was split and gathered is found; nobody is walked through twice. */
  const walkBack = (start: number, target = -1): Walk => {
    for (const number of met) [found[number], hopOf[number]] = [0, 0]
    met = []
    let returned = 0
    let front = [start]
    reached[start] = 1
    for (let hop = 1; hop <= hops && front.length > 0; hop += 1) {
      const touched = stepBack(front)
      front = []
      for (const funder of touched) {
        const share = reached[funder] as number
        const passed = funder === start || hopOf[funder] !== 0
        if (funder !== start) found[funder] = (found[funder] as number) + share
        if (!passed) {
          met.push(funder)
          hopOf[funder] = hop
        }
        if (passed && funder !== target) returned += share
        if (passed || funder === target) reached[funder] = 0
        else front.push(funder)
      }
    }
    for (const number of front) reached[number] = 0
    return { met, returned }
  }
  return { walkBack, found, hopOf }
}

/** Follows money back over so many transfers. */
export function createTrace(shares: readonly FundingShare[], hops: number): FundingTrace {
  const { numbers, names, given } = numberWallets(shares)
  const { walkBack, found, hopOf } = createWalker(given, hops)
  return {
    funders: (wallet) => {
      const start = numbers.get(wallet)
      if (start === undefined) return []
      const { met, returned } = walkBack(start)
      return met.map((number) => ({
        funder: names[number] as string,
        share: ofTheRest(found[number] as number, returned),
        hop: hopOf[number] as number,
      }))
    },
    shareThrough: (wallet, funder) => {
      const [start, target] = [numbers.get(wallet), numbers.get(funder)]
      if (start === undefined || target === undefined) return 0
      const { returned } = walkBack(start, target)
      return ofTheRest(found[target] as number, returned)
    },
  }
}

/** When all of it went round there is nothing to divide by. */
const ofTheRest = (share: number, returned: number) => Math.min(1, share / Math.max(1 - returned, 1e-6))

/** The name of the cluster of each wallet: parties that live on the same money have the same. */
export function clusterByFunding(
  parties: readonly string[],
  shares: readonly FundingShare[],
  hops: number,
): (wallet: string) => string {
  const trace = createTrace(shares, hops)
  const likely = new Map<string, { wallet: string; needed: number }[]>()
  for (const wallet of parties)
    for (const { funder, share, hop } of trace.funders(wallet)) {
      const needed = shareNeeded(hop)
      if (share < needed) continue
      const wallets = likely.get(funder) ?? []
      wallets.push({ wallet, needed })
      likely.set(funder, wallets)
    }
  const { join, nameOf } = createClusters()
  // Those that may have funded most come first: what they join need not be checked again.
  for (const [funder, wallets] of [...likely].sort(([, one], [, other]) => other.length - one.length))
    for (const { wallet, needed } of wallets)
      if (nameOf(wallet) !== nameOf(funder) && trace.shareThrough(wallet, funder) >= needed) join(wallet, funder)
  return nameOf
}
