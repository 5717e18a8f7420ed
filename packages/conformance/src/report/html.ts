import { escapeMarkup } from '@assay/protocol/escape-markup'
import { levels, levelTitles } from '../case.ts'
import type { CaseResult, Report } from '../run.ts'
import { badge } from './badge.ts'
import { summaryOf } from './text.ts'

const style = `
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.35rem .5rem;border-bottom:1px solid #ddd}
.failed{color:#b3261e;font-weight:600}.passed{color:#1a7f37}.unclear,.skipped{color:#6b5900}
details{margin:.25rem 0}code{font-size:.9em;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}td,th{border-color:#333}.failed{color:#ff8a80}.passed{color:#7ee787}.unclear,.skipped{color:#e3b341}}
`

/** One page without scripts or outside resources. */
export function htmlReport(report: Report): string {
  const { url, at, price, signatures } = report
  const sections = levels.map((level) =>
    sectionOf(
      level,
      report.cases.filter((one) => one.level === level),
    ),
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>x402 conformance of ${escapeMarkup(url)}</title><style>${style}</style></head><body>
<h1>x402 conformance</h1>
<p>${badge(report)}</p>
<p><code>${escapeMarkup(url)}</code>, ${escapeMarkup(at)}, price ${escapeMarkup(price.amount)} of <code>${escapeMarkup(price.asset)}</code> on ${escapeMarkup(price.network)}</p>
<p>${escapeMarkup(summaryOf(report))}</p>
${sections.join('\n')}
<h2>Signatures made</h2>
<details><summary>${signatures.length} payments were signed</summary><table><tr><th>case</th><th>kind</th><th>to</th><th>units</th><th>valid until</th><th>nonce</th></tr>
${signatures
  .map(
    (one) =>
      `<tr><td>${escapeMarkup(one.case)}</td><td>${escapeMarkup(one.kind)}</td><td><code>${escapeMarkup(one.to)}</code></td><td>${escapeMarkup(one.value)}</td><td>${escapeMarkup(one.validBefore)}</td><td><code>${escapeMarkup(one.nonce)}</code></td></tr>`,
  )
  .join('\n')}
</table></details>
</body></html>
`
}

function sectionOf(level: (typeof levels)[number], cases: readonly CaseResult[]): string {
  if (cases.length === 0) return ''
  const rows = cases.map(
    (one) =>
      `<tr><td><code>${escapeMarkup(one.id)}</code><br>${escapeMarkup(one.title)}</td><td class="${one.verdict}">${one.verdict.replace('_', ' ')}</td><td>${escapeMarkup(one.seen)}${detailsOf(one)}</td></tr>`,
  )
  return `<h2>${level} ${escapeMarkup(levelTitles[level])}</h2>\n<table><tr><th>case</th><th>verdict</th><th>seen</th></tr>\n${rows.join('\n')}\n</table>`
}

function detailsOf({ verdict, why, fix, exchanges }: CaseResult): string {
  const sent = exchanges
    .slice(0, 20)
    .map(
      ({ request, status, headers }) =>
        `<li><code>${escapeMarkup(request)}</code> [${escapeMarkup(headers.join(', '))}] → ${status}</li>`,
    )
  const advice =
    verdict === 'failed'
      ? `<p><strong>Why it matters:</strong> ${escapeMarkup(why)}<br><strong>Fix:</strong> ${escapeMarkup(fix)}</p>`
      : ''
  return `${advice}<details><summary>${exchanges.length} requests</summary><ol>${sent.join('')}</ol></details>`
}
