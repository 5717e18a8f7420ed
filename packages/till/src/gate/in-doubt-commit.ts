import type { Hold } from '../contract/entitlement.ts'
import { callFingerprint } from '../contract/fingerprint.ts'
import type { AnswerContent, PaidCall } from '../contract/paid-call.ts'
import { nameCall } from '../credit/entitled-calls.ts'
import { Problem } from '../kernel/problem.ts'
import type { GateDeps } from './gate-deps.ts'

/** A call whose price may have been taken: the connection to the database broke during the commit. */
export type InDoubt = { call: PaidCall; hold: Hold; answer: AnswerContent }

const checksMax = 14
const pauseMsMax = 60_000

/**
 * The answer to a call whose commit is in doubt. Without an Idempotency-Key it gets its own id as one. A newly signed request
 * with that key returns the stored answer if the call was paid for, and draws for it once if not.
 */
export function inDoubtCommit(deps: GateDeps, inDoubt: InDoubt): Problem {
  const { holdId, hasKey, fallbackKey } = inDoubt.hold
  if (!hasKey && fallbackKey !== undefined)
    nameWhenSeen(deps, inDoubt, fallbackKey).catch((error: unknown) =>
      deps.log.error(
        { call: holdId, error: String(error) },
        'a commit is in doubt: the call may be paid for and was not answered',
      ),
    )
  return new Problem('call_in_flight', {
    detail: 'Whether this call was paid for is not known yet.',
    retryAfterSeconds: 5,
    ...(hasKey ? {} : howToAskAgain(inDoubt.hold)),
  })
}

function howToAskAgain({ holdId, fallbackKey }: Hold) {
  return fallbackKey === undefined
    ? { hint: 'This call has no name, so asking again may use another one: give each call an Idempotency-Key.' }
    : {
        hint: 'Sign the request again after Retry-After seconds, with this Idempotency-Key; nothing is used twice.',
        extra: { idempotency_key: holdId },
      }
}

async function nameWhenSeen(
  { clock, database }: GateDeps,
  { call, hold, answer }: InDoubt,
  key: string,
): Promise<void> {
  let seen = false
  for (let look = 0; look < checksMax; look += 1) {
    await clock.sleep(Math.min(1_000 * 2 ** look, pauseMsMax))
    const name = { key, fingerprint: callFingerprint(call) }
    const named = await nameCall(database, hold.holdId, name, answer).catch(() => undefined)
    if (named) return
    seen ||= named === false
  }
  // The database was read for minutes and never held the call: it was not paid for.
  if (!seen) throw new Error('the database was not reached again in time')
}
