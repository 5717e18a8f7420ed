import { escapeMarkup } from '@assay/protocol/escape-markup'
import { sha256 } from '@assay/till/kernel/bytes'
import { powerNames } from '../evaluate/types.ts'
import {
  type Account,
  accountText,
  factText,
  genesisTexts,
  multiplierText,
  pauseText,
  policyText,
  seizePathTexts,
  supplyText,
  unreachableLines,
} from './describe-report.ts'
import { renderDiagram } from './render-diagram.ts'
import type { SignedReport } from './render-markdown.ts'

const style = `
:root { color-scheme: light dark; --line: #cbd5e1; --quiet: #64748b }
body { font: 15px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { margin-bottom: .2rem } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line) }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid var(--line) }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere } .quiet { color: var(--quiet) }
.verdict { font-size: 1.4rem; font-weight: 700 } .critical { color: #b91c1c } .warning { color: #b45309 } .synthetic { border: 2px dashed #b45309; padding: .4rem .8rem }
.timeline { list-style: none; padding-left: 1rem; border-left: 2px solid var(--line) } .timeline li { margin: .3rem 0; position: relative } .timeline li::before { content: ''; position: absolute; left: -1.36rem; top: .5rem; width: .6rem; height: .6rem; border-radius: 50%; background: var(--quiet) }
svg { width: 100%; height: auto; margin: 1rem 0 } pre { overflow: auto; font-size: 12px; border: 1px solid var(--line); padding: .6rem }
`

/** Nothing but this page's own style may run or load. */
export const htmlHeaders = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${sha256(style).toString('base64')}'; frame-ancestors 'none'`,
}

const e = (value: unknown) => escapeMarkup(factText(value))

export function renderHtml(report: SignedReport): string {
  const title = `${factText(report.token.name)} (${factText(report.token.symbol)})`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}: ${report.verdict}</title><style>${style}</style></head><body>
<h1>${escapeMarkup(title)}</h1>
<p class="quiet"><code>${report.address}</code> on ${escapeMarkup(report.network)}</p>
${'synthetic' in report ? '<p class="synthetic">Synthetic demo data.</p>' : ''}
<p class="verdict">${report.verdict}</p><p>${escapeMarkup(report.summary)}</p>
<p class="quiet">Read at block ${report.block.number} <code>${report.block.hash}</code>, ${report.block.at}. ${report.complete ? 'Complete' : '<strong>Not complete</strong>'}; valid until ${report.valid_until_at}.</p>
${renderDiagram(report)}
<p class="quiet">Whole lines: can now. Dashed lines: can bring it about.</p>
${section('Powers', powerTable(report))}
${section('Flags', list(report.flags.map((flag) => `<span class="${flag.severity}">${flag.severity}</span> <code>${escapeMarkup(flag.code)}</code> ${escapeMarkup(flag.sentence)}`)))}
${section('Supply, pause and multiplier', [supplyText(report), pauseText(report), multiplierText(report)].map((text) => `<p>${escapeMarkup(text)}</p>`).join(''))}
${section('Seize paths', list(seizePathTexts(report).map(escapeMarkup)))}
${section('Roles', `${roleTable(report)}${report.unreachable.length === 0 ? '' : list(unreachableLines(report).map(escapeMarkup))}`)}
${section('Policies', policyTables(report))}
${section('Genesis and history', historyOf(report))}
${section('What to ask the issuer', list(report.questions.map(escapeMarkup)))}
${section('How it was read', readingOf(report))}
${section('Attestation', `<pre>${escapeMarkup(JSON.stringify(report.attestation, null, 1))}</pre>`)}
</body></html>
`
}

const section = (title: string, body: string) => `<section><h2>${title}</h2>${body}</section>`
const list = (items: readonly string[]) =>
  items.length === 0 ? '<p class="quiet">None.</p>' : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`
const row = (...cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
const head = (...cells: string[]) => `<tr>${cells.map((cell) => `<th>${cell}</th>`).join('')}</tr>`
const accounts = (parties: readonly Account[]) =>
  parties.map((party) => `<code>${escapeMarkup(accountText(party))}</code>`).join('<br>') || '-'

function powerTable(report: SignedReport): string {
  const rows = powerNames.map((name) => {
    const power = report.powers[name]
    if (power === undefined) return ''
    return row(
      name,
      `<strong>${power.state}</strong>`,
      accounts(power.who),
      accounts(power.could_become),
      escapeMarkup(power.why),
    )
  })
  return `<table>${head('power', 'state', 'who can now', 'who could', 'why')}${rows.join('')}</table>`
}

function roleTable(report: SignedReport): string {
  const rows = report.roles
    .filter((role) => role.holders.length > 0 || role.could_become.length > 0)
    .map((role) =>
      row(
        `<code>${escapeMarkup(role.name)}</code>`,
        role.holders
          .map(
            (holder) =>
              `<code>${escapeMarkup(accountText(holder))}</code>${holder.granted ? `<br><span class="quiet">granted in block ${holder.granted.block_number}</span>` : ''}`,
          )
          .join('<br>') || 'nobody',
        escapeMarkup(role.admin_path.slice(1).join(' → ') || 'itself'),
      ),
    )
  return `<table>${head('role', 'holders, each confirmed by hasRole', 'administered by')}${rows.join('')}</table>`
}

function policyTables(report: SignedReport): string {
  const scopeRows = report.scopes.map((scope) =>
    row(
      `<code>${scope.name}</code>`,
      escapeMarkup(scope.meaning),
      scope.policy_id === null ? 'not in this fork' : e(scope.policy_id),
      scope.denies,
      accounts(scope.influenced_by),
    ),
  )
  const policies = report.policies.map((policy) => escapeMarkup(policyText(policy)))
  return `<table>${head('scope', 'meaning', 'policy', 'denies', 'influenced by')}${scopeRows.join('')}</table>
${policies.length === 0 ? '' : list(policies)}`
}

function historyOf(report: SignedReport): string {
  const made = genesisTexts(report).map((text) => `<p>${escapeMarkup(text)}</p>`)
  const left = report.history_left_out > 0 ? [`and ${report.history_left_out} earlier changes of lists`] : []
  const events = report.history.map(
    (event) =>
      `<li><code>block ${event.block_number}</code> ${escapeMarkup(event.text)} <span class="quiet">${event.concerns.join(', ')}</span></li>`,
  )
  const timeline = events.length === 0 ? '<p class="quiet">None.</p>' : `<ol class="timeline">${events.join('')}</ol>`
  return `${made.join('')}${timeline}${left.length === 0 ? '' : list(left)}`
}

function readingOf({ completeness, network_note, method_version }: SignedReport): string {
  const { logs } = completeness
  return `<p>Admins in storage: ${e(completeness.admin_count)}, set ${completeness.admin_set}. Logs of blocks ${logs.from_block} to ${logs.to_block}: ${logs.count}, gaps ${logs.gaps.length}. Method ${method_version}.</p>
${list(completeness.missing.map(({ code, detail }) => `<code>${escapeMarkup(code)}</code> ${escapeMarkup(detail)}`))}<p class="quiet">${escapeMarkup(network_note)}</p>`
}
