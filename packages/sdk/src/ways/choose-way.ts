import { formatUsd } from '@assay/protocol/money'

/** The ways to pay that this client knows, by the names that `assay buy --scheme` takes. */
export const ways = ['exact', 'permit2', 'upto', 'batch-settlement', 'mpp', 'credit'] as const
export type Way = (typeof ways)[number]

export type WayPolicy = {
  /** This way and no other. */
  only?: Way
  /** How many calls like this one are expected. Default: 1. */
  expectedCalls?: number
  /** The wallet has approved Permit2 to take its USDC, so that `upto` and `permit2` can be used. */
  permit2?: boolean
  /** Decimal USD that may be put into a payment channel at once, so that `batch-settlement` can be used. */
  depositUsd?: string
}

export type WayFacts = WayPolicy & {
  /** What the seller names. */
  offered: ReadonlySet<Way>
  /** What of it this wallet can sign now, and the policy allows. */
  possible: ReadonlySet<Way>
  priceMicro: bigint
  /** Credit with the seller; undefined where it is not known or not to be used. */
  creditMicro?: bigint
}

/** A way, why it was chosen, and what would be better if the buyer prepared for it. To be shown as it is. */
export type WayChoice = { way: Way; why: string; advice?: string }

/** Up to this price a settlement costs a good part of what it moves. */
const smallMicro = 10_000n
/** From this number on, paying in once saves more than it asks for. */
const manyCalls = 20

/** The way that costs and risks least; undefined when none is possible. Pure. */
export function chooseWay(facts: WayFacts): WayChoice | undefined {
  const { only, possible } = facts
  if (only !== undefined) return possible.has(only) ? { way: only, why: `${only}: asked for` } : undefined
  const { expectedCalls = 1, priceMicro } = facts
  const isWorthChannel = expectedCalls >= manyCalls && priceMicro <= smallMicro
  const channel = ['batch-settlement'] as const
  const order: Way[] = ['credit', ...(isWorthChannel ? channel : []), 'upto', 'exact', 'permit2', 'mpp', ...channel]
  const way = order.find((one) => possible.has(one))
  if (way === undefined) return undefined
  const advice = adviceFor(way, facts)
  return { way, why: `${way}: ${reasonFor(way, facts)}`, ...(advice === undefined ? {} : { advice }) }
}

/** Credit that covers the price is always the best way. */
export function creditChoice(priceMicro: bigint, creditMicro: bigint): WayChoice {
  const only: ReadonlySet<Way> = new Set(['credit'])
  return chooseWay({ offered: only, possible: only, priceMicro, creditMicro }) as WayChoice
}

function reasonFor(way: Way, { priceMicro, creditMicro = 0n, expectedCalls = 1 }: WayFacts): string {
  const price = `${formatUsd(priceMicro)} USD`
  switch (way) {
    case 'credit':
      return `the credit of ${formatUsd(creditMicro)} USD covers it, and nothing is settled for this call`
    case 'upto':
      return `the answer is metered, so what was used is paid, ${price} at most`
    case 'exact':
      return `one signature for ${price}, without a balance or an allowance; no more than that is at risk`
    case 'permit2':
      return `the seller takes no EIP-3009 here, and the wallet has approved Permit2`
    case 'batch-settlement':
      return `one deposit into a channel of your own for ${expectedCalls} calls, of which each is charged its price`
    case 'mpp':
      return `the seller offers nothing else that is possible`
  }
}

function adviceFor(way: Way, { offered, priceMicro, expectedCalls = 1 }: WayFacts): string | undefined {
  if (way === 'credit' || way === 'batch-settlement') return undefined
  const isMany = expectedCalls >= manyCalls && priceMicro <= smallMicro
  if (!offered.has('credit') && offered.has('batch-settlement') && isMany)
    return `for ${expectedCalls} calls, allow a deposit (depositUsd): one settlement in place of one for each call`
  if (offered.has('credit') && isMany)
    return (
      `for ${expectedCalls} calls, pay in ${formatUsd(priceMicro * BigInt(expectedCalls))} USD once and draw on it: ` +
      'one settlement in place of one for each call'
    )
  if (way === 'exact' && offered.has('upto'))
    return 'the answer is metered: approve Permit2 once, and with upto only what was used is paid'
  return undefined
}
