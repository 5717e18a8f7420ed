import { table } from '../output.ts'

type Measured = {
  base_rate: number | null
  precision: Record<string, number | null>
  lift: Record<string, number | null>
  pr_auc: number | null
}

type Quality = {
  feed?: unknown
  status?: unknown
  why?: unknown
  period?: { from?: string; to?: string; days?: number }
  test?: { label?: unknown }
  result?: Measured & { lift_interval?: { low: number | null; high: number | null } }
  baselines?: Record<string, Measured>
  against?: {
    baseline: string
    difference: number | null
    median: number | null
    low: number | null
    high: number | null
  }[]
  loses?: { to: string; in: string }[]
  caveats?: string[]
}

const shown = (value: number | null | undefined) => (value === null || value === undefined ? '-' : String(value))

export function qualityText(document: Record<string, unknown>): string {
  const quality = document as Quality
  if (quality.status !== 'measured' || !quality.result)
    return `${quality.feed}: ${quality.status}, ${quality.why ?? ''}`
  const rows = [
    { name: String(quality.feed), measured: quality.result as Measured },
    ...Object.entries(quality.baselines ?? {}).map(([name, measured]) => ({ name, measured })),
  ]
  const { low, high } = quality.result.lift_interval ?? { low: null, high: null }
  return [
    `${quality.feed}, ${quality.period?.from} to ${quality.period?.to}, ${quality.period?.days} days`,
    `counted as a squeeze: ${quality.test?.label}`,
    '',
    table(rows, [
      { title: 'ranked by', of: (row) => row.name },
      { title: 'base rate', of: (row) => shown(row.measured.base_rate), right: true },
      { title: 'precision at 25', of: (row) => shown(row.measured.precision.at_25), right: true },
      { title: 'lift at 25', of: (row) => shown(row.measured.lift.at_25), right: true },
      { title: 'PR-AUC', of: (row) => shown(row.measured.pr_auc), right: true },
    ]),
    '',
    `lift at 25, 90 % interval: ${shown(low)} to ${shown(high)}`,
    ...(quality.against ?? []).map(
      ({ baseline, difference, median, low: from, high: to }) =>
        `lift less that of ${baseline.replaceAll('_', ' ')}: ${shown(difference)} (resampled median ${shown(median)}, 90 % from ${shown(from)} to ${shown(to)})`,
    ),
    `behind: ${(quality.loses ?? []).map(({ to, in: when }) => `${to.replaceAll('_', ' ')} in ${when}`).join(', ') || 'none of these rankings'}`,
    ...(quality.caveats ?? []),
  ].join('\n')
}
