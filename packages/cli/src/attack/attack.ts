import type { Target } from './target.ts'

/** How an attack ended: the seller held, gave something away, or it could not be told. */
export type Verdict = 'held' | 'broken' | 'unclear' | 'left_out'

export type Outcome = { verdict: Verdict; detail: string }

export type Attack = {
  id: string
  title: string
  /** Purchases that are paid for real if the seller behaves. */
  purchases: number
  run(target: Target): Promise<Outcome>
}

export const held = (detail: string): Outcome => ({ verdict: 'held', detail })
export const broken = (detail: string): Outcome => ({ verdict: 'broken', detail })
export const unclear = (detail: string): Outcome => ({ verdict: 'unclear', detail })
export const leftOut = (detail: string): Outcome => ({ verdict: 'left_out', detail })

export const served = (status: number) => status >= 200 && status < 300

/** The usual judgement of what must not be served: 5xx is no answer, but no proof of care either. */
export function nothingServed(statuses: readonly number[], charged: bigint | undefined): Outcome {
  const list = [...new Set(statuses)].join(', ')
  if (statuses.some(served)) return broken(`served (${list})`)
  if (charged !== undefined && charged > 0n) return broken(`not served, but ${charged} micro-USDC were taken`)
  if (statuses.every((status) => status >= 500 || status === 0)) return unclear(`failed instead of refusing (${list})`)
  return held(`refused with ${list}`)
}
