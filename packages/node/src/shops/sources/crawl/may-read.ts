import type { Clock } from '@assay/till/kernel/clock'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Outbound } from '../../../outbound/index.ts'
import { readRobots } from './discover-host.ts'
import { isAllowed, type Robots, robotsBytesMax } from './robots.ts'

/** Undefined when robots.txt lets us read the address, otherwise why not, in words. */
export type MayRead = (url: string) => Promise<string | undefined>

type Known = { robots: Robots; unreadable: string | undefined; untilMs: number }

const keptMs = 3_600_000
/** Silence may be over in a moment. */
const keptSilentMs = 30_000
const hostsMax = 1_000

/** For pages that are read on request, outside of any crawl; each host is asked for its robots.txt once an hour. */
export function createMayRead(deps: { outbound: Outbound; clock: Clock }): MayRead {
  const known = new Map<string, Promise<Known>>()
  const ask = async (origin: string): Promise<Known> => {
    const url = `${origin}/robots.txt`
    const nowMs = deps.clock.nowMs()
    const answer = await deps.outbound.fetch(url, {
      maxBytes: robotsBytesMax,
      onTooLarge: 'cut',
      totalMs: 5_000,
      redirectsMax: 3,
      plainHttp: true,
    })
    const { finding, robots } = readRobots(answer, url, toRfc3339(nowMs))
    const unreadable =
      finding.status === 'unknown' || finding.status === 'broken' ? (finding.note ?? 'no answer') : undefined
    return { robots, unreadable, untilMs: nowMs + (unreadable === undefined ? keptMs : keptSilentMs) }
  }
  const look = async (origin: string): Promise<Known> => {
    const kept = known.get(origin)
    if (kept && (await kept).untilMs > deps.clock.nowMs()) return kept
    const asked = ask(origin)
    known.delete(origin)
    known.set(origin, asked)
    asked.catch(() => known.delete(origin))
    const [oldest] = known.keys()
    if (known.size > hostsMax && oldest !== undefined) known.delete(oldest)
    return asked
  }
  return async (url) => {
    const { robots, unreadable } = await look(new URL(url).origin)
    if (isAllowed(robots, url)) return undefined
    return unreadable === undefined ? 'robots.txt forbids it' : `robots.txt could not be read: ${unreadable}`
  }
}
