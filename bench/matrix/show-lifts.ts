import type { compareWithBaselines } from '../../packages/node/src/shops/matrix/quality/compare.ts'
import { baselineNames, type Evaluation } from '../../packages/node/src/shops/matrix/quality/evaluate.ts'
import { liftAt } from '../../packages/node/src/shops/matrix/quality/metrics.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)
const figure = (value: number | null) => (value === null ? '-' : value.toFixed(2)).padStart(16)
const title = (name: string) => name.replaceAll('_', ' ').padStart(16)

/** Lift by month and pooled, and how sure the difference to each baseline is. */
export function showComparison({ depth, against, by_month, loses }: ReturnType<typeof compareWithBaselines>): void {
  say(`lift at ${depth}${' '.repeat(20)}${title('score')}${baselineNames.map(title).join('')}`)
  for (const { month, days, base_rate, lift, baselines } of by_month)
    say(
      `${month}  ${String(days).padStart(3)} days, base ${((base_rate ?? 0) * 100).toFixed(1).padStart(4)} %${figure(lift)}${baselineNames.map((name) => figure(baselines[name] ?? null)).join('')}`,
    )
  const [any] = against
  say(`${'pooled'.padEnd(30)}${figure(any?.lift ?? null)}${against.map((one) => figure(one.baseline_lift)).join('')}`)
  for (const { baseline, days, lift, baseline_lift, difference, median, low, high, blocks } of against)
    say(
      `score less ${baseline.padEnd(15)} ${days} days: ${lift} - ${baseline_lift} = ${difference}; bootstrap of ${blocks} blocks: median ${median}, 90 % from ${low} to ${high}`,
    )
  say(`behind: ${loses.map(({ to, in: when }) => `${to} in ${when}`).join(', ') || 'nothing'}`)
}

/** Each candidate by month; and what walking forward would have chosen: the best of the months before, measured on the next. */
export function showCandidates(days: Evaluation['days'], names: readonly string[], depth: number): void {
  const months = [...new Set(days.map(({ date }) => date.slice(0, 7)))]
  const daysOf = (name: string, wanted: (month: string) => boolean) =>
    days.flatMap(({ date, byPredictor }) => (wanted(date.slice(0, 7)) && byPredictor[name] ? [byPredictor[name]] : []))
  say(`\n${'candidate'.padEnd(48)}${months.map((month) => month.padStart(9)).join('')}   pooled`)
  for (const name of names)
    say(
      `${name.padEnd(48)}${months
        .map((month) =>
          (
            liftAt(
              daysOf(name, (one) => one === month),
              depth,
            )?.toFixed(2) ?? '-'
          ).padStart(9),
        )
        .join('')}${(
        liftAt(
          daysOf(name, () => true),
          depth,
        )?.toFixed(2) ?? '-'
      ).padStart(9)}`,
    )
  const pooled: ReturnType<typeof daysOf> = []
  for (const month of months.slice(1)) {
    const before = (name: string) =>
      liftAt(
        daysOf(name, (one) => one < month),
        depth,
      ) ?? 0
    const [best = ''] = [...names].sort((a, b) => before(b) - before(a))
    const next = daysOf(best, (one) => one === month)
    pooled.push(...next)
    say(`before ${month} the best was "${best}" (${before(best)}); in ${month} it had ${liftAt(next, depth)}`)
  }
  say(`walking forward, months from ${months[1]} pooled: ${liftAt(pooled, depth)}`)
}
