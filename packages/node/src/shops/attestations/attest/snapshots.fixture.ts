import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import type { Database } from '@assay/till/store/database'
import type { Outbound } from '../../../outbound/index.ts'
import type { RenderPage } from '../../sources/page/index.ts'
import { createHostTurns, type HostTurns } from './host-turns.ts'
import { openPageThreads } from './page-threads-adapter.ts'
import { createSnapshots } from './snapshots.ts'

export type SiteOptions = {
  finalUrl?: (url: string) => string
  httpStatus?: number
  head?: string
  forbidden?: readonly string[]
  turns?: HostTurns
  body?: string
  renderPage?: RenderPage
}

/** Snapshots over a database that knows no page and a site that answers every address; what is fetched and stored is listed. */
export function openSnapshots(options: SiteOptions = {}) {
  const stored: string[] = []
  const fetched: string[] = []
  const database = {
    query: async () => ({ rows: [], rowCount: 0 }),
    transaction: async (work: (tx: unknown) => Promise<unknown>) =>
      work({ query: async (text: string) => stored.push(text) }),
  } as unknown as Database
  const outbound = {
    fetch: async (url: string) => {
      fetched.push(url)
      const target = options.finalUrl?.(url) ?? url
      if (target !== url) return { status: 'refused', reason: 'too_many_redirects', detail: 'a redirect', url: target }
      return {
        status: 'ok',
        url,
        httpStatus: options.httpStatus ?? 200,
        headers: new Map([['content-type', 'text/html']]),
        bytes: Buffer.from(
          `<html><head>${options.head ?? ''}</head><body>${options.body ?? '<article><p>Words of the page.</p></article>'}</body></html>`,
        ),
      }
    },
  } as unknown as Outbound
  const mayRead = async (url: string) => (options.forbidden?.includes(url) ? 'robots.txt forbids it' : undefined)
  const threads = openPageThreads({ clock: systemClock, log: silentLog })
  const turns = options.turns ?? createHostTurns({ clock: systemClock, pauseMs: 0 })
  const { renderPage } = options
  const ports = { database, outbound, clock: systemClock, mayRead, turns, threads, renderPage }
  const snapshots = createSnapshots({ ...ports, freshMs: 1_000 })
  return { snapshots, threads, stored, fetched }
}
