export type Alarm = { alarm: string; count: number }

const line = /^assay_alarms_total\{(?:[^}]*,)?alarm="([^"\\]+)"[^}]*\} (\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/gm

/** Alarms of this process since it started, from what /metrics says. */
export function readAlarms(metrics: string): Alarm[] {
  return [...metrics.matchAll(line)].map(([, alarm = '', count = '0']) => ({ alarm, count: Number(count) }))
}
