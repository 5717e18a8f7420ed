import { escapeMarkup } from '@assay/protocol/escape-markup'
import { levels, levelTitles } from '../case.ts'
import type { CaseResult, Report } from '../run.ts'

/** A suite for each level. What is unclear counts as skipped, never as passed. */
export function junitReport({ cases }: Report): string {
  const suites = levels.flatMap((level) => {
    const own = cases.filter((one) => one.level === level)
    if (own.length === 0) return []
    const failures = own.filter(({ verdict }) => verdict === 'failed').length
    const skipped = own.filter(({ verdict }) => verdict === 'unclear' || verdict === 'skipped').length
    const seconds = own.reduce((sum, { ms }) => sum + ms, 0) / 1000
    const name = escapeMarkup(`${level} ${levelTitles[level]}`)
    return [
      `  <testsuite name="${name}" tests="${own.length}" failures="${failures}" skipped="${skipped}" time="${seconds}">`,
      ...own.map(caseElement),
      '  </testsuite>',
    ]
  })
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...suites, '</testsuites>', ''].join('\n')
}

function caseElement({ id, level, title, verdict, seen, fix, ms }: CaseResult): string {
  const open = `    <testcase classname="x402.${level}" name="${escapeMarkup(`${id}: ${title}`)}" time="${ms / 1000}"`
  if (verdict === 'passed') return `${open}/>`
  const message = escapeMarkup(seen)
  const inner =
    verdict === 'failed'
      ? `<failure message="${message}">${escapeMarkup(fix)}</failure>`
      : `<skipped message="${message}"/>`
  return `${open}>${inner}</testcase>`
}
