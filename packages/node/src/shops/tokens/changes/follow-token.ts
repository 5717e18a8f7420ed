import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { JwsPort } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Checked, Checker } from '../checker.ts'
import { type Change, type Cursor, cursorText, loggedChanges, silentChanges } from './control-changes.ts'

export type FollowDeps = { checker: Checker; clock: Clock; jws: JwsPort; baseUrl: string; stopped: AbortSignal }

const pollEveryMs = 1_000
const aliveEveryMs = 15_000

/** A CloudEvent 1.0 that carries its own signature: a JWS whose payload is the event without it. */
export function toCloudEvent(deps: Pick<FollowDeps, 'jws' | 'baseUrl'>, token: Address, change: Change) {
  const shown = checksumAddress(token)
  const event = {
    specversion: '1.0',
    id: [shown, cursorText(change.cursor), change.kind, ...(change.ordinal ? [change.ordinal] : [])].join(':'),
    source: `${deps.baseUrl}/v1/tokens/${shown}/changes`,
    type: `assay.b20.${change.kind}`,
    subject: shown,
    datacontenttype: 'application/json',
    data: change.data,
  }
  return { ...event, signature: deps.jws.sign(event) }
}

export function sseText(event: { type?: Json; [key: string]: Json | undefined }, cursor: Cursor): string {
  return `id: ${cursorText(cursor)}\nevent: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Everything since the cursor, then whatever comes, until the reader goes or the node stops. */
export async function* followToken(deps: FollowDeps, token: Address, first: Checked, from: Cursor) {
  let seen = first
  let cursor = from
  const tell = function* (changes: readonly Change[]) {
    for (const change of changes) yield sseText(toCloudEvent(deps, token, change), change.cursor)
  }
  const backlog = loggedChanges(first.facts, cursor)
  yield ': control changes\n\n'
  yield* tell(backlog)
  cursor = later(cursor, { block: first.facts.block.number, logIndex: 0 }, backlog)
  let aliveAtMs = deps.clock.nowMs()
  while (!deps.stopped.aborted) {
    await deps.clock.sleep(pollEveryMs, deps.stopped).catch(() => {})
    if (deps.stopped.aborted) return
    const next = await deps.checker.check(token, { fresh: true }).catch(() => undefined)
    if (next === undefined) yield ': the chain cannot be read at the moment\n\n'
    else if (next.facts.block.hash !== seen.facts.block.hash) {
      const changes = [...loggedChanges(next.facts, cursor), ...silentChanges(seen, next)]
      yield* tell(changes)
      cursor = later(cursor, { block: next.facts.block.number, logIndex: 0 }, changes)
      seen = next
    }
    if (deps.clock.nowMs() - aliveAtMs >= aliveEveryMs) {
      aliveAtMs = deps.clock.nowMs()
      yield ': alive\n\n'
    }
  }
}

/** Logs of the block just read have all been reported, so the next read begins after it. */
function later(cursor: Cursor, read: Cursor, changes: readonly Change[]): Cursor {
  const reported = changes.at(-1)?.cursor ?? cursor
  const whole = { block: read.block, logIndex: 1_000_000 }
  return whole.block >= reported.block ? whole : reported
}
