import type { Address } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { holding, signedEvent, eventText as textOf } from '../../../http/index.ts'
import type { Alert } from '../alerts/check-rules.ts'
import { createStreamAlerts } from '../alerts/stream-alerts.ts'
import type { FeedId } from '../feeds/feed.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { pageOf } from '../snapshots/page.ts'
import { renderJson } from '../snapshots/render.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { isSnapshot } from '../snapshots/snapshot-cache.ts'
import { envelopeOf } from './envelope.ts'

/** Long enough to be worth while, short enough that readers spread over the processes again. */
const streamMsMax = 15 * 60_000
const heartbeatMs = 15_000

/** What a subscriber wants to read, and what opened it. */
export type SnapshotStreamRequest = {
  feed: FeedId
  limit: number
  wallet: Address
  token_sha256: string | null
  last_event_id?: string
  /** Rules whose alerts come with the snapshots. */
  alerts?: string
}

/** A stream in one of the places of its subscription; it ends with the subscription, or with the token that opened it. */
export async function openSnapshotStream(
  deps: MatrixDeps,
  streamRequest: SnapshotStreamRequest,
): Promise<AsyncIterable<string>> {
  const seat = await deps.streams.take(streamRequest.wallet)
  const ended = new AbortController()
  const end = (reason: string) => ended.abort(reason)
  const close = () => {
    seat.close()
    end('closed')
  }
  seat.watch({
    tokenSha256: streamRequest.token_sha256,
    endAt: (ms) => {
      if (ms <= deps.clock.nowMs()) end('expired')
    },
    end,
  })
  return holding(close, streamSnapshots(deps, streamRequest, ended.signal))
}

/** New snapshots as they are made, as server-sent CloudEvents 1.0, each with its own signature. */
async function* streamSnapshots(
  deps: MatrixDeps,
  streamRequest: SnapshotStreamRequest,
  ended: AbortSignal,
): AsyncGenerator<string> {
  const stopped = AbortSignal.any([deps.stopping, ended])
  const waiting: Snapshot[] = []
  const watch = createStreamAlerts(deps, streamRequest)
  const alerts: string[] = []
  let wake = () => {}
  const unsubscribe = deps.snapshotCache.onNew((feed, snapshot) => {
    alerts.push(...watch(snapshot).map((alert) => alertText(deps, alert)))
    if (alerts.length > 0) wake()
    if (feed !== streamRequest.feed) return
    // Anyone who reads slowly gets the newest only: an older one is of no use to them any more.
    waiting.splice(0, waiting.length, snapshot)
    wake()
  })
  try {
    const current = deps.snapshotCache.current(streamRequest.feed, 'vip')
    if (isSnapshot(current) && current.sha256 !== streamRequest.last_event_id) waiting.push(current)
    const endsAtMs = deps.clock.monotonicMs() + streamMsMax
    yield 'retry: 5000\n\n'
    while (!stopped.aborted && deps.clock.monotonicMs() < endsAtMs) {
      const alert = alerts.shift()
      const next = alert === undefined ? waiting.shift() : undefined
      if (alert !== undefined) yield alert
      else if (next) yield eventText(deps, next, streamRequest.limit)
      else if (!(await untilNews(deps, (resolve) => (wake = resolve), stopped)) && !stopped.aborted)
        yield ': still here\n\n'
    }
    if (ended.aborted) yield endText(deps, streamRequest.feed, String(ended.reason))
  } finally {
    unsubscribe()
  }
}

function alertText(deps: MatrixDeps, { payload }: Alert): string {
  const attributes = {
    id: deps.ids.next('evt'),
    source: `${deps.baseUrl}/matrix/${String(payload['feed'])}`,
    type: 'assay.matrix.alert.v1',
    subject: String(payload['rule']),
    time: toRfc3339(deps.clock.nowMs()),
  }
  return textOf(null, 'alert', signedEvent(deps.jws, attributes, JSON.stringify(payload)))
}

/** Says why it is over; the last thing sent. */
function endText(deps: MatrixDeps, feed: FeedId, reason: string): string {
  const attributes = {
    id: deps.ids.next('evt'),
    source: `${deps.baseUrl}/matrix/${feed}`,
    type: 'assay.matrix.end.v1',
    subject: feed,
    time: toRfc3339(deps.clock.nowMs()),
  }
  const data = JSON.stringify({ reason, subscriptions: '/v1/subscriptions', plans: '/v1/subscriptions/plans' })
  return textOf(null, 'end', signedEvent(deps.jws, attributes, data))
}

async function untilNews(
  deps: MatrixDeps,
  listen: (resolve: () => void) => void,
  stopped: AbortSignal,
): Promise<boolean> {
  const done = new AbortController()
  const news = new Promise<boolean>((resolve) => listen(() => resolve(true)))
  const pause = deps.clock.sleep(heartbeatMs, AbortSignal.any([done.signal, stopped])).then(
    () => false,
    () => false,
  )
  const found = await Promise.race([news, pause])
  done.abort()
  return found
}

export function eventText(deps: MatrixDeps, snapshot: Snapshot, limit: number): string {
  const page = pageOf(snapshot, { limit })
  const { facts, text } = envelopeOf(snapshot, {
    tier: 'vip',
    nowMs: deps.clock.nowMs(),
    fileCache: deps.fileCache,
  })
  const head = { facts, text: `${text},"unranked":{}` }
  const data = renderJson(snapshot, page, 'vip', head).toString('utf8')
  const attributes = {
    id: snapshot.sha256,
    source: `${deps.baseUrl}/matrix/${snapshot.manifest.feed}`,
    type: 'assay.matrix.snapshot.v1',
    subject: snapshot.manifest.feed,
    time: toRfc3339(deps.clock.nowMs()),
  }
  return textOf(snapshot.sha256, 'snapshot', signedEvent(deps.jws, attributes, data))
}
