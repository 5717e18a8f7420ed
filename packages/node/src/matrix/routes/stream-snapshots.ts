import { signedEvent, eventText as textOf } from '../../http/index.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import type { FeedId } from '../feeds/feed.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { isSnapshot } from '../snapshots/keeper.ts'
import { pageOf } from '../snapshots/page.ts'
import { renderJson } from '../snapshots/render.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { envelopeOf } from './envelope.ts'

/** A subscription may end: after this long the reader comes back and is looked at again. */
const streamMsMax = 15 * 60_000
const heartbeatMs = 15_000

/** New snapshots as they are made, as server-sent CloudEvents 1.0, each with a signature of its own. */
export async function* streamSnapshots(
  deps: MatrixDeps,
  input: { feed: FeedId; limit: number; lastEventId?: string; signal?: AbortSignal },
): AsyncGenerator<string> {
  const stopped = AbortSignal.any([deps.stopping, ...(input.signal ? [input.signal] : [])])
  const waiting: Snapshot[] = []
  let wake = () => {}
  const forget = deps.keeper.onNew((feed, snapshot) => {
    if (feed !== input.feed) return
    // Whoever reads slowly gets the newest only: an older one is of no use to them any more.
    waiting.splice(0, waiting.length, snapshot)
    wake()
  })
  try {
    const current = deps.keeper.current(input.feed, 'vip')
    if (isSnapshot(current) && current.sha256 !== input.lastEventId) waiting.push(current)
    const endsAtMs = deps.clock.monotonicMs() + streamMsMax
    yield 'retry: 5000\n\n'
    while (!stopped.aborted && deps.clock.monotonicMs() < endsAtMs) {
      const next = waiting.shift()
      if (next) yield eventText(deps, next, input.limit)
      else if (!(await untilNews(deps, (resolve) => (wake = resolve), stopped))) yield ': still here\n\n'
    }
  } finally {
    forget()
  }
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
    shelf: deps.shelf,
    pointInTime: false,
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
