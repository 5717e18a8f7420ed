import { levels, levelTitles } from '../case.ts'
import { permissionHint, permissionPath } from '../permission.ts'
import type { CaseResult, Report } from '../run.ts'

const marks = { passed: 'ok', failed: 'FAILED', unclear: 'unclear', skipped: '' } as const

export const summaryOf = ({ counts, reached }: Report): string =>
  `${counts.passed} passed, ${counts.failed} failed, ${counts.unclear} unclear, ${counts.skipped} skipped; ` +
  (reached === null ? 'no level reached' : `reached ${reached}`)

/** For a terminal: a line for each case that was checked, and what to do about those that failed. */
export function textReport(report: Report): string {
  const lines: string[] = []
  for (const level of levels) {
    const own = report.cases.filter((one) => one.level === level)
    if (own.length === 0) continue
    lines.push(`${level} ${levelTitles[level]}`)
    const checked = own.filter(({ verdict }) => verdict !== 'skipped')
    const width = Math.max(...checked.map(({ id }) => id.length))
    for (const { id, verdict, seen } of checked)
      lines.push(`  ${id.padEnd(width)}  ${marks[verdict].padEnd(7)}  ${seen}`)
    const others = own.filter(({ verdict }) => verdict === 'skipped')
    for (const reason of new Set(others.map(({ seen }) => seen))) {
      const ids = others.filter(({ seen }) => seen === reason).map(({ id }) => id)
      lines.push(`  skipped: ${reason}`, `    ${ids.join(', ')}`)
    }
    lines.push('')
  }
  for (const one of report.cases.filter(({ verdict }) => verdict === 'failed')) lines.push(...explain(one), '')
  const { signatures } = report
  if (report.cases.some(({ seen }) => seen.includes(permissionPath)))
    lines.push(permissionHint(report.url, report.nonce))
  lines.push(`${signatures.length} payments were signed; --json lists them.`, summaryOf(report))
  return lines.join('\n')
}

const explain = ({ id, title, seen, why, fix }: CaseResult): string[] => [
  `${id}: ${title}`,
  `  seen  ${seen}`,
  `  why   ${why}`,
  `  fix   ${fix}`,
]
