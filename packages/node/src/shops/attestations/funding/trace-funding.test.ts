import { expect, test } from 'vitest'
import { clusterByFunding, type FundingShare } from './trace-funding.ts'

const hops = 6
const gave = (funder: string, wallet: string, share = 1): FundingShare => ({ wallet, funder, share })
const joined = (shares: readonly FundingShare[], parties = ['a', 'b']) => {
  const clusterOf = clusterByFunding(parties, shares, hops)
  return new Set(parties.map(clusterOf)).size === 1
}
const chain = (from: string, to: string, length: number) => {
  const names = [from, ...Array.from({ length: length - 1 }, (_, n) => `${from}-${to}-${n}`), to]
  return names.slice(1).map((wallet, n) => gave(names[n] as string, wallet))
}

test('money that came the long way, from one funder over three to six transfers, makes one cluster', () => {
  for (const length of [1, 2, 3, 4, 5, 6])
    expect(joined([...chain('funder', 'a', length), ...chain('funder', 'b', 2)])).toBe(true)
  expect(joined([...chain('funder', 'a', 7), ...chain('funder', 'b', 1)])).toBe(false)
})

test('money that one funder splits over five or fifty wallets, and gathers again, is seen as one', () => {
  for (const mules of [5, 50]) {
    const between = Array.from({ length: mules }, (_, n) => `mule-${n}`)
    const shares = between.flatMap((mule) => [
      gave('funder', mule),
      gave(mule, 'a', 1 / mules),
      gave(mule, 'b', 1 / mules),
    ])
    expect(joined(shares)).toBe(true)
  }
})

test('money sent round among the wallets of a funder does not hide whose it is', () => {
  const herd = Array.from({ length: 20 }, (_, n) => `w${n}`)
  for (const round of [0.5, 0.9, 0.99]) {
    const shares = herd.flatMap((wallet) => [
      gave('funder', wallet, 1 - round),
      ...herd.filter((other) => other !== wallet).map((other) => gave(other, wallet, round / 19)),
    ])
    expect(joined(shares, herd)).toBe(true)
  }
})

test('a wallet that trades with its peers is not taken for one of them, nor for one that pays both a little', () => {
  const peers = [gave('b', 'a', 0.2), gave('a', 'b', 0.2), gave('payer', 'a', 0.1), gave('payer', 'b', 0.1)]
  expect(joined(peers)).toBe(false)
})

test('strangers who got a tenth from the same wallet stay apart, also when that tenth went round before', () => {
  expect(joined([gave('shop', 'a', 0.1), gave('shop', 'b', 0.1)])).toBe(false)
  const round = [gave('r1', 'a', 0.1), gave('r1', 'b', 0.1), gave('r2', 'r1'), gave('r1', 'r2')]
  expect(joined(round)).toBe(false)
})

test('from three transfers on it takes half of the money, so that a distant payer of many joins nobody', () => {
  const far = (to: string, share: number) => [
    gave('payer', `${to}-1`),
    gave(`${to}-1`, `${to}-2`),
    gave(`${to}-2`, to, share),
  ]
  const apart = [...far('a', 0.4), ...far('b', 0.4)]
  expect(joined(apart)).toBe(false)
  expect(joined([...far('a', 0.6), ...far('b', 0.6)])).toBe(true)
})
