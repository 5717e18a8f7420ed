import type { OutboundOutcome } from '../../../outbound/index.ts'
import type { SourceDeps } from '../deps.ts'

export type AskOptions = {
  accept?: readonly string[]
  maxBytes?: number
  onTooLarge?: 'fail' | 'cut'
  headers?: Record<string, string>
}

/** One request at a time, with a pause between two: however many workers there are, a host meets one visitor. */
export type RateLimitedHost = {
  ask(url: string, options?: AskOptions): Promise<OutboundOutcome>
  /** What robots.txt asks for, within reason. */
  slowTo(seconds: number | undefined): void
  /** Somebody may have asked this host recently: the first request waits too. */
  rest(): void
}

export function createPoliteHost(deps: SourceDeps, signal: AbortSignal): RateLimitedHost {
  const { crawl } = deps.settings
  let pauseMs = crawl.hostDelayMs
  let nextAtMs = 0
  const request = async (url: string, options: AskOptions) => {
    const waitMs = nextAtMs - deps.clock.monotonicMs()
    if (waitMs > 0) await deps.clock.sleep(waitMs, signal).catch(() => {})
    const outcome = await deps.outbound.fetch(url, {
      maxBytes: options.maxBytes ?? crawl.pageBytesMax,
      totalMs: crawl.requestMs,
      redirectsMax: 3,
      signal,
      ...(options.accept === undefined ? {} : { accept: options.accept }),
      ...(options.onTooLarge === undefined ? {} : { onTooLarge: options.onTooLarge }),
      ...(options.headers === undefined ? {} : { headers: options.headers }),
    })
    // Counted from the end of the answer: a slow host gets more rest.
    nextAtMs = deps.clock.monotonicMs() + pauseMs
    return outcome
  }
  return {
    slowTo: (seconds) => {
      if (seconds !== undefined) pauseMs = Math.max(crawl.hostDelayMs, Math.min(seconds, crawl.delaySecondsMax) * 1_000)
    },
    rest: () => {
      nextAtMs = deps.clock.monotonicMs() + pauseMs
    },
    ask: async (url, options = {}) => {
      const first = await request(url, options)
      const again =
        first.status === 'failed' && first.retryable && first.reason !== 'aborted' && first.reason !== 'timeout'
      return again && !signal.aborted ? request(url, options) : first
    },
  }
}
