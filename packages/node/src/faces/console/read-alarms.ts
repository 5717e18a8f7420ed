export type Alarm = { alarm: string; rung: number }

const line = /^assay_alarms_total\{(?:[^}]*,)?alarm="([^"\\]+)"[^}]*\} (\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/gm

/** Alarms of this process since it started, from what /metrics says. */
export function readAlarms(metrics: string): Alarm[] {
  return [...metrics.matchAll(line)].map(([, alarm = '', rung = '0']) => ({ alarm, rung: Number(rung) }))
}
