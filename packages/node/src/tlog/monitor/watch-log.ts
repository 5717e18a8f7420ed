import { checkLog } from './check-log.ts'
import type { LogState, MonitorDeps } from './types.ts'

const pauseMsMax = 600_000

/** Checks a log again and again until it is stopped; less often while it does not answer. */
export async function watchLog(
  deps: MonitorDeps,
  url: string,
  intervalMs: number,
  signal: AbortSignal,
  onCheck: (state: LogState) => void,
): Promise<void> {
  while (!signal.aborted) {
    const state = await checkLog(deps, url)
    onCheck(state)
    const pauseMs = Math.min(Math.max(pauseMsMax, intervalMs), intervalMs * 2 ** Math.min(state.failures, 10))
    await deps.clock.sleep(pauseMs, signal).catch(() => {})
  }
}

/** The worst of the findings; `ok` when there are none. */
export function verdictOf({ findings }: Pick<LogState, 'findings'>): 'ok' | 'warning' | 'alarm' {
  if (findings.some(({ severity }) => severity === 'alarm')) return 'alarm'
  return findings.length > 0 ? 'warning' : 'ok'
}
