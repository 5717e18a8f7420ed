import type { Seller } from './seller/seller.ts'
import type { Answer } from './seller/send.ts'

/**
 * L1 protocol, L2 one payment one serve, L3 only what was quoted, L4 money and failure, L5 evidence.
 */
export const levels = ['L1', 'L2', 'L3', 'L4', 'L5'] as const
export type Level = (typeof levels)[number]

export const levelTitles: Record<Level, string> = {
  L1: 'Protocol',
  L2: 'One payment, one serve',
  L3: 'Only what was quoted',
  L4: 'Money and failure',
  L5: 'Evidence',
}

/** `skipped` says nothing about the seller: something the case needs is missing. */
export type Verdict = 'passed' | 'failed' | 'unclear' | 'skipped'
export type Finding = { verdict: Verdict; seen: string }

/** What a case needs beside the address of the seller. */
export type Need =
  /** A wallet that can pay, and permission to spend from it. */
  | 'payment'
  /** The chain, to see what moved. */
  | 'chain'
  /** The seller settles through the facilitator of this suite. */
  | 'facilitator'
  /** The seller is on this machine: the case floods it or breaks connections in numbers. */
  | 'loopback'
  /** The command that starts the seller again. */
  | 'restart'
  /** Another paid route of the seller. */
  | 'other_route'
  /** The seller offers the Payment authentication scheme (MPP). */
  | 'mpp'
  /** The seller takes Permit2 signatures. */
  | 'permit2'
  /** The seller offers the scheme `upto`. */
  | 'upto'
  /** The seller offers the scheme `batch-settlement` with deposits by EIP-3009. */
  | 'channels'

export type Case = {
  id: string
  level: Level
  /** What is tried. */
  title: string
  /** What a seller loses that fails. */
  why: string
  /** What to change in the seller. */
  fix: string
  needs: readonly Need[]
  run(seller: Seller): Promise<Finding>
}

export const passed = (seen: string): Finding => ({ verdict: 'passed', seen })
export const failed = (seen: string): Finding => ({ verdict: 'failed', seen })
export const unclear = (seen: string): Finding => ({ verdict: 'unclear', seen })
export const skipped = (seen: string): Finding => ({ verdict: 'skipped', seen })

/** Nothing was bought that the case could go on with: the seller's own words say why. */
export const unsold = ({ status, body }: Pick<Answer, 'status' | 'body'>): Finding =>
  unclear(`an honest purchase was answered with ${listOf([status])}: ${printable(body)}`)

/** What a seller wrote, without what a terminal would obey. */
const printable = (text: string) => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)

export const isServed = (status: number): boolean => status >= 200 && status < 300

export const listOf = (statuses: readonly number[]): string =>
  [...new Set(statuses)].map((status) => (status === 0 ? 'no answer' : String(status))).join(', ')

/**
 * The default check of what must not be served: a 5xx is no service, but no refusal either. Where every serve was charged
 * in full the seller has lost nothing: it reads payments more leniently than it might.
 */
export function checkRefused(
  statuses: readonly number[],
  paid?: { charged: bigint | undefined; price: bigint },
): Finding {
  const list = listOf(statuses)
  const served = statuses.filter(isServed).length
  const charged = paid?.charged
  if (served > 0)
    return paid && charged === paid.price * BigInt(served)
      ? unclear(`accepted, and charged in full (${list})`)
      : failed(`served (${list})`)
  if (charged !== undefined && charged > 0n) return failed(`refused with ${list}, and ${charged} units were taken`)
  if (statuses.every((status) => status >= 500 || status === 0)) return unclear(`failed instead of refusing (${list})`)
  return passed(`refused with ${list}`)
}
