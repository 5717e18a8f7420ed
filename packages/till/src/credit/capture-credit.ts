import type { CaptureOutcome, Draw, HeldCall } from '../contract/entitlement.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Tx } from '../store/database.ts'
import type { BalanceHints } from './balance-hints.ts'
import { captureDraws, type DrawOutcome, type DrawRequest, postingOfDraw, takeDraws } from './credit-draws.ts'

export type CaptureDeps = { clock: Clock; hints: BalanceHints }

export const drawOf = ({ amountMicro }: DrawRequest, { outcome, network, leftMicro }: DrawOutcome): Draw | undefined =>
  outcome === 'held' && network !== null ? { network, amountMicro, leftMicro: leftMicro ?? 0n } : undefined

/**
 * What was set aside is taken and posted in one statement, charges after prepare in another; the caller makes the
 * postings.
 */
export async function captureCredit(deps: CaptureDeps, tx: Tx, held: readonly HeldCall[]): Promise<CaptureOutcome[]> {
  const nowMs = deps.clock.nowMs()
  const outcomes = new Array<CaptureOutcome>(held.length)
  const setAside: HeldCall[] = []
  const later: { place: number; request: DrawRequest }[] = []
  for (const [place, one] of held.entries())
    if (one.hold.chargeAfterPrepare) later.push({ place, request: one.hold.chargeAfterPrepare as DrawRequest })
    else {
      setAside.push(one)
      outcomes[place] = { status: 'captured', ...(one.hold.draw ? { draw: one.hold.draw } : {}) }
    }
  if (setAside.length > 0) await captureDraws(tx, nowMs, setAside)
  if (later.length === 0) return outcomes
  const requests = later.map(({ request }) => request)
  const drawn = await takeDraws(tx, nowMs, requests)
  for (const [index, { place, request }] of later.entries())
    outcomes[place] = outcomeOf(deps, request, drawn[index] as DrawOutcome)
  return outcomes
}

function outcomeOf({ hints }: CaptureDeps, request: DrawRequest, drawn: DrawOutcome): CaptureOutcome {
  hints.saw(request, drawn)
  const draw = drawOf(request, drawn)
  if (!draw) return { status: 'not_captured', why: () => request.notHeld(drawn) }
  return { status: 'captured', draw, posting: postingOfDraw(request, draw.network) }
}
