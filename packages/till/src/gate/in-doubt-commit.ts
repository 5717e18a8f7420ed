import type { AnswerContent, EntitlementPort, PaidCall } from '../contract/paid-call.ts'
import { Problem } from '../kernel/problem.ts'
import type { GateDeps } from './gate-deps.ts'

/** A call whose price may have been taken: the database was out of reach when it was, or was not, committed. */
export type Unseen = {
  port: EntitlementPort
  call: PaidCall
  callId: string
  /** Its caller gave it a name, under which the answer was kept with the price. */
  named: boolean
  answer: AnswerContent | undefined
}

const looksMax = 14
const pauseMsMax = 60_000

/**
 * Neither served nor forgotten. A call without a name gets its own id for one: asked for by that name, in a request that
 * is signed anew, it is answered if it was paid for, and drawn for once if it was not.
 */
export function inDoubtCommit(deps: GateDeps, unseen: Unseen): Problem {
  const { port, callId, named, answer } = unseen
  if (!named && answer && port.nameTaken)
    nameWhenSeen(deps, unseen, answer).catch((error: unknown) =>
      deps.log.error({ call: callId, error: String(error) }, 'a call was perhaps paid for and not answered'),
    )
  return new Problem('call_in_flight', {
    detail: 'Whether this call was paid for is not known yet.',
    retryAfterSeconds: 5,
    ...(named ? {} : howToAskAgain(port, callId)),
  })
}

function howToAskAgain({ nameTaken }: EntitlementPort, callId: string) {
  return nameTaken
    ? {
        hint: 'Sign the request again after Retry-After seconds, with this Idempotency-Key; nothing is used twice.',
        extra: { idempotency_key: callId },
      }
    : { hint: 'This call has no name, so asking again may use another one: give each call an Idempotency-Key.' }
}

async function nameWhenSeen({ clock }: GateDeps, { port, call, callId }: Unseen, answer: AnswerContent): Promise<void> {
  let seen = false
  for (let look = 0; look < looksMax; look += 1) {
    await clock.sleep(Math.min(1_000 * 2 ** look, pauseMsMax))
    const named = await port.nameTaken?.(callId, call, answer).catch(() => undefined)
    if (named) return
    seen ||= named === false
  }
  // Seen for minutes and never there: it was not taken.
  if (!seen) throw new Error('the database was not reached again in time')
}
