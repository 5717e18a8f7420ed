import type { FundingShare } from '../../packages/node/src/shops/attestations/funding/trace-funding.ts'
import type { Attack, Staked } from './simulate.ts'

const usual = { bondUsd: 100, ownCitations: 10_000, camouflagePerWallet: 0, ownSources: 1, ageDays: 365 }
const gave = (funder: string, wallet: string, share = 1): FundingShare => ({ wallet, funder, share })

/** From the creator of the own source to a wallet, over so many transfers. */
const chain = (to: string, hops: number): FundingShare[] => {
  const names = ['creator', ...Array.from({ length: hops - 1 }, (_, n) => `${to}-hop-${n}`), to]
  return names.slice(1).map((wallet, n) => gave(names[n] as string, wallet))
}

/** The same money, first spread over mules and gathered again in every wallet, in pieces that are each too small to matter. */
const spread = (wallets: readonly string[], mules: number): FundingShare[] => {
  const names = Array.from({ length: mules }, (_, n) => `mule-${n}`)
  return [
    ...names.flatMap((mule) => chain(mule, 2)),
    ...wallets.flatMap((wallet) => names.map((mule) => gave(mule, wallet, 1 / mules))),
  ]
}

/** Sent round among the wallets, so that little of what each received came from outside. */
const round = (wallets: readonly string[], part: number): FundingShare[] =>
  wallets.flatMap((wallet, at) => {
    const peers = wallets.filter((_, n) => n !== at && (n - at + wallets.length) % wallets.length <= 50)
    return [
      ...chain(wallet, 3).map((one) => (one.wallet === wallet ? { ...one, share: 1 - part } : one)),
      ...peers.map((peer) => gave(peer, wallet, part / peers.length)),
    ]
  })

/** Money sent to strangers with weight, so that they seem to live on it; what a stranger has at stake counts as his own. */
const sendToStrangers = (from: string, budgetUsd: number, eachOf: (bondUsd: number) => number) => {
  let left = budgetUsd
  return (strangers: readonly Staked[]): FundingShare[] =>
    [...strangers]
      .sort((one, other) => eachOf(one.bondUsd) - eachOf(other.bondUsd))
      .flatMap(({ agent, bondUsd }) => {
        const usd = eachOf(bondUsd)
        if (left < usd) return []
        left -= usd
        return [gave(from, agent, Math.min(1, usd / bondUsd))]
      })
}

/** With funding that the chain shows, unlike the other attacks. */
export const fundingAttacks: Attack[] = [
  ...[1, 10, 100, 500].flatMap((wallets) =>
    [3, 6].map((hops) => ({
      ...usual,
      name: `100 USD, ${wallets} wallets, ${hops} hops`,
      wallets,
      funding: (names: readonly string[]) => names.flatMap((name) => chain(name, hops)),
    })),
  ),
  {
    ...usual,
    name: '100 USD, 1 wallet, 7 hops (not seen)',
    wallets: 1,
    funding: (names) => names.flatMap((name) => chain(name, 7)),
  },
  ...[10, 100].map((mules) => ({
    ...usual,
    name: `100 USD, 4 wallets, over ${mules} mules`,
    wallets: 4,
    funding: (names: readonly string[]) => spread(names, mules),
  })),
  { ...usual, name: '100 USD, 10 wallets, sent round', wallets: 10, funding: (names) => round(names, 0.99) },
  {
    ...usual,
    name: '100 USD, 1 wallet, 60 % by an exchange',
    wallets: 1,
    funding: (names) =>
      names.flatMap((name) => chain(name, 3).map((one) => (one.wallet === name ? gave(one.funder, name, 0.4) : one))),
  },
  {
    ...usual,
    name: 'a cent to each of 500 strangers',
    wallets: 1,
    bondUsd: 95,
    spentUsd: 5,
    funding: (_, strangers) => sendToStrangers('x0', 5, () => 0.01)(strangers),
  },
  {
    ...usual,
    name: '100 USD to strangers with small bonds',
    wallets: 1,
    bondUsd: 0,
    funding: (_, strangers) => sendToStrangers('x0', 100, (bond) => bond / 4)(strangers),
  },
  {
    ...usual,
    name: '100 USD to the 4 loudest strangers',
    wallets: 4,
    bondUsd: 0,
    funding: (names, strangers) =>
      [...strangers]
        .sort((one, other) => other.bondUsd - one.bondUsd)
        .slice(0, 4)
        .map(({ agent }, n) => gave(names[n] as string, agent, 0.25)),
  },
]
