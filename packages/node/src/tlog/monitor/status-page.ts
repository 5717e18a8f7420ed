import { createHash } from 'node:crypto'
import { escapeMarkup } from '@assay/protocol/escape-markup'
import { parseNoteKey } from '@assay/protocol/log/signed-note'
import { growthChart } from './growth-chart.ts'
import type { LogState } from './types.ts'
import { verdictOf } from './watch-log.ts'

const style = `:root{color-scheme:light dark;--ink:#1b2430;--soft:#5d6b7c;--line:#d9e0e8;--card:#fff;--page:#f4f6f9;--good:#14784b;--warn:#9a6200;--bad:#b3261e;--accent:#2f5fd0}
@media(prefers-color-scheme:dark){:root{--ink:#e8edf4;--soft:#9aa8b8;--line:#2c3744;--card:#18202a;--page:#10161d;--good:#4cc38a;--warn:#e0a63a;--bad:#ff8a80;--accent:#8fb2ff}}
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 4rem}h1{font-size:1.35rem;margin:0 0 .25rem}h2{font-size:1.05rem;margin:0;overflow-wrap:anywhere}
h3{font-size:.8rem;margin:1.5rem 0 .5rem;color:var(--soft);font-weight:600}p{margin:.25rem 0}.soft{color:var(--soft)}
article{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.25rem 1.4rem;margin-top:1.25rem}
header.log{display:flex;gap:1rem;justify-content:space-between;align-items:start}.state{font-weight:600;white-space:nowrap}
.ok{color:var(--good)}.warning{color:var(--warn)}.alarm{color:var(--bad)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:.75rem 1.5rem;margin:1rem 0 0}dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.15rem;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;width:100%;font-size:.9rem}th{text-align:left;color:var(--soft);font-weight:500;font-size:.8rem}td,th{padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}td.wide{overflow-wrap:anywhere}
ul{margin:.5rem 0 0;padding-left:1.1rem}code{font:.85em ui-monospace,monospace;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto;margin-top:.25rem}.curve{fill:none;stroke:var(--accent);stroke-width:2}.area{fill:var(--accent);opacity:.12}.axis{stroke:var(--line)}text{fill:var(--soft);font-size:11px}a{color:var(--accent)}`

export const statusPageHeaders = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
}

const verdictTexts = { ok: 'No problem found', warning: 'Needs attention', alarm: 'Alarm' }

/** What the monitor knows, for people. Everything a log sent is escaped. */
export function renderStatusPage(states: readonly LogState[], nowMs: number): string {
  const title = 'Log monitor'
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title><meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="15"><style>${style}</style></head>
<body><main><h1>${title}</h1><p class="soft">Checks that each log is signed, only grows, and shows everybody the same tree.</p>
${states.map((state) => logCard(state, nowMs)).join('\n') || '<p>No log has been read yet.</p>'}
</main></body></html>
`
}

function logCard(state: LogState, nowMs: number): string {
  const verdict = state.checked_at === null ? 'warning' : verdictOf(state)
  const label = state.checked_at === null ? 'Not read yet' : verdictTexts[verdict]
  const checked = state.checked_at === null ? 'never' : `${age(state.checked_at, nowMs)} ago`
  return `<article><header class="log"><div><h2>${escapeHtml(state.origin ?? state.url)}</h2><p class="soft">${escapeHtml(state.url)}</p></div><span class="state ${verdict}">${label}</span></header>
${findings(state)}
<dl><div><dt>Size</dt><dd>${number(state.head?.size)}</dd></div><div><dt>Leaves verified</dt><dd>${number(state.audited)}</dd></div><div><dt>Last growth</dt><dd>${state.grown_at === null ? '–' : `${age(state.grown_at, nowMs)} ago`}</dd></div><div><dt>Checked</dt><dd>${checked}</dd></div></dl>
${growthChart(state.growth, nowMs)}
${state.head === null ? '' : `<h3>Tree head</h3><p><code>${escapeHtml(state.head.root)}</code></p>`}
${witnessTable(state, nowMs)}${viewTable(state, nowMs)}${anchorTable(state)}${receiptLine(state)}</article>`
}

function findings({ findings: list }: LogState): string {
  if (list.length === 0) return ''
  const items = list.map(
    ({ severity, kind, detail }) =>
      `<li><span class="${severity}">${escapeHtml(kind)}</span>: ${escapeHtml(detail)}</li>`,
  )
  return `<ul>${items.join('')}</ul>`
}

function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const cells = (row: readonly string[]) => `<tr>${row.map((cell) => `<td class="wide">${cell}</td>`).join('')}</tr>`
  return `<h3>${title}</h3><table><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>${rows.map(cells).join('')}</table>`
}

const witnessTable = ({ witnesses }: LogState, nowMs: number) =>
  table(
    'Witnesses',
    ['Name', 'Cosigned size', 'When'],
    Object.entries(witnesses).map(([vkey, { size, cosigned_at }]) => [
      escapeHtml(parseNoteKey(vkey)?.name ?? vkey),
      number(size),
      `${age(cosigned_at, nowMs)} ago`,
    ]),
  )

const viewTable = ({ views }: LogState, nowMs: number) =>
  table(
    'What others saw',
    ['Source', 'Size', 'Compared', 'When'],
    Object.entries(views).map(([source, { size, verdict, seen_at }]) => [
      escapeHtml(source),
      number(size),
      escapeHtml(verdict),
      `${age(seen_at, nowMs)} ago`,
    ]),
  )

const anchorTable = ({ anchors }: LogState) =>
  table(
    'On chain',
    ['Size', 'Transaction', 'Root'],
    anchors.seen
      .slice(-10)
      .reverse()
      .map(({ size, transaction, agrees }) => [
        number(size),
        `<code>${escapeHtml(transaction)}</code>`,
        agrees === null ? 'not shown yet' : agrees ? 'agrees' : '<span class="alarm">differs</span>',
      ]),
  )

function receiptLine({ receipts }: LogState): string {
  if (receipts.checked === 0 && receipts.missing.length === 0) return ''
  return `<h3>Receipts</h3><p>${number(receipts.checked)} found in the log, ${number(receipts.missing.length)} missing</p>`
}

const number = (value: number | null | undefined) => (value == null ? '–' : value.toLocaleString('en-US'))

export function age(time: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1000))
  if (!Number.isFinite(seconds)) return '?'
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

export const escapeHtml = (text: string): string => escapeMarkup(text.slice(0, 1_000))

/** For scripts: everything the monitor knows. */
export function statusJson(states: readonly LogState[]): string {
  return JSON.stringify({ logs: states.map((state) => ({ verdict: verdictOf(state), ...state })) }, null, 2)
}
