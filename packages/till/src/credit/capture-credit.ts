import type { CaptureOutcome, Draw, HeldCall, Hold } from '../contract/entitlement.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Tx } from '../store/database.ts'
import type { BalanceHints } from './balance-hints.ts'
import { captureDraws, type DrawOutcome, type DrawRequest, postingOfDraw, takeDraws } from './credit-draws.ts'

export type CaptureDeps = {
  clock: Clock
  hints: BalanceHints
  /** What a promise has to draw. */
  promised: WeakMap<Hold, DrawRequest>
}

export const drawOf = ({ amountMicro }: DrawRequest, { outcome, network, leftMicro }: DrawOutcome): Draw | undefined =>
  outcome === 'held' && network !== null ? { network, amountMicro, leftMicro: leftMicro ?? 0n } : undefined

/** What was set aside is taken and posted in one statement, what was promised in another; its postings are the caller's. */
export async function captureCredit(deps: CaptureDeps, tx: Tx, held: readonly HeldCall[]): Promise<CaptureOutcome[]> {
  const nowMs = deps.clock.nowMs()
  const requests = held.flatMap(({ hold }) => (hold.promised ? [promiseOf(deps, hold)] : []))
  await captureDraws(
    tx,
    nowMs,
    held.filter(({ hold }) => !hold.promised),
  )
  const drawn = requests.length === 0 ? [] : await takeDraws(tx, nowMs, requests)
  const kept = requests.map((request, index) => outcomeOf(deps, request, drawn[index] as DrawOutcome)).values()
  return held.map(({ hold }): CaptureOutcome => {
    if (hold.promised) return kept.next().value as CaptureOutcome
    return { status: 'captured', ...(hold.draw ? { draw: hold.draw } : {}) }
  })
}

function promiseOf({ promised }: CaptureDeps, hold: Hold): DrawRequest {
  const request = promised.get(hold)
  if (!request) throw new Error(`nothing is known of the promise ${hold.holdId}`)
  return request
}

function outcomeOf({ hints }: CaptureDeps, request: DrawRequest, drawn: DrawOutcome): CaptureOutcome {
  hints.saw(request, drawn)
  const draw = drawOf(request, drawn)
  if (!draw) return { status: 'not_captured', why: () => request.notHeld(drawn) }
  return { status: 'captured', draw, posting: postingOfDraw(request, draw.network) }
}
