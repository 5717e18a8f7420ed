import { setTimeout as sleep } from 'node:timers/promises'
import type { MonitorDeps } from '@assay/node/log-monitor'

export const systemClock: MonitorDeps['clock'] = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => void (await sleep(ms, undefined, signal ? { signal } : {})),
}
