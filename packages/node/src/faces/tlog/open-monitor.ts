import { join } from 'node:path'
import type { TillJob } from '@assay/till/compose'
import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../../shops/shop.ts'
import { logPath } from '../../tlog/index.ts'
import {
  checkLog,
  createMonitorHttp,
  defaultMonitorOptions,
  emptyState,
  openFolderStore,
  renderStatusPage,
  statusJson,
  statusPageHeaders,
} from '../../tlog/monitor/index.ts'

export const monitorPath = `${logPath}/monitor`
const html = 'text/html'
/** A log that does not grow is looked at so many times more rarely. */
const idleFactor = 6

/** A monitor of the node's own log, over HTTP like anybody else's: it shows what `assay log monitor` does. */
export function openMonitor(
  { clock, home, apiUrl }: Pick<ShopContext, 'clock' | 'home' | 'apiUrl'>,
  everyMs: number,
  /** Keys of the configured witnesses. */
  witnessKeys: readonly string[],
): { routes: RouteDeclaration[]; jobs: TillJob[] } {
  if (everyMs === 0) return { routes: [], jobs: [] }
  const store = openFolderStore(join(home, 'log-monitor'))
  const url = `${apiUrl}${logPath}`
  const witnesses = witnessKeys.map((key) => ({ key }))
  const options = { ...defaultMonitorOptions, witnesses, quorum: witnesses.length }
  const deps = { http: createMonitorHttp('AssayMonitor/1.0'), clock, store, options }
  return {
    jobs: [
      {
        name: 'log.monitor',
        intervalMs: everyMs,
        work: () => checkLog(deps, url),
        due: '(select max(size) from log_checkpoint)',
        idleMs: everyMs * idleFactor,
      },
    ],
    routes: [
      defineRoute({
        id: 'log.monitor',
        capability: 'citations.log.monitor',
        area: 'C',
        method: 'GET',
        path: monitorPath,
        summary: 'What a monitor of this log found: signed, growing, the same for everybody',
        representations: ['application/json', html],
        output: z.object({ logs: z.array(z.unknown()) }),
        example: { output: { logs: [] } },
        next: logPath,
        hidden: true,
        access: {
          kind: 'free',
          handle: async (_input, { representation }) => {
            const states = [(await store.readState()) ?? emptyState(url)]
            if (representation !== html)
              return { status: 200, contentType: 'application/json', body: statusJson(states) }
            const body = renderStatusPage(states, clock.nowMs())
            return { status: 200, contentType: `${html}; charset=utf-8`, body, headers: statusPageHeaders }
          },
        },
      }),
    ],
  }
}
