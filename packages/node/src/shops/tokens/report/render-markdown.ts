import { powerNames } from '../evaluate/types.ts'
import type { Report } from './build-report.ts'
import {
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

export type SignedReport = Report & { attestation: unknown; proof?: unknown }

/** Issuers choose names: nothing of theirs may become markup. */
export function escapeMarkdown(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  return text.replace(/[\\`*_{}[\]()#+\-.!|~&<>]/g, (mark) => entities[mark] ?? `\\${mark}`)
}

/** Our own sentences hold addresses, names of roles and numbers only: enough to keep them from being read as emphasis. */
const escapeOwn = (text: string) => text.replace(/[\\`*_[\]|~<>]/g, (mark) => `\\${mark}`)

const plain = (value: unknown) => escapeMarkdown(factText(value))

export function renderMarkdown(report: SignedReport): string {
  const lines: string[] = []
  const add = (...text: string[]) => lines.push(...text)
  const { token, block } = report
  add(`# ${plain(token.name)} (${plain(token.symbol)})`, '', `\`${report.address}\` on \`${report.network}\``, '')
  if ('synthetic' in report) add('> Synthetic demo data.', '')
  add(`## ${report.verdict}`, '', report.summary, '')
  add(
    `Read at block ${block.number} (\`${block.hash}\`, ${block.at}). ${report.complete ? 'Complete.' : 'NOT complete.'} Valid until ${report.valid_until_at}.`,
    '',
  )
  add('## Powers', '', '| power | state | who can now | who could | why |', '|---|---|---|---|---|')
  for (const name of powerNames) {
    const power = report.powers[name]
    if (power === undefined) continue
    const cells = [
      name,
      power.state,
      power.who.map(accountText).join('; ') || '-',
      power.could_become.map(accountText).join('; ') || '-',
      power.why,
    ]
    add(`| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
  }
  add('', '## Flags', '')
  for (const flag of report.flags) add(`- **${flag.severity}** \`${flag.code}\`: ${flag.sentence}`)
  add('', '## Supply, pause and multiplier', '')
  for (const text of [supplyText(report), pauseText(report), multiplierText(report)]) add(escapeOwn(text), '')
  add('## Seize paths', '', ...seizePathTexts(report).map((text) => `- ${escapeOwn(text)}`))
  add('', '## Roles', '')
  if (report.roles.every((role) => role.holders.length === 0 && role.could_become.length === 0))
    add('Nobody holds a role, and nobody ever can.', '')
  for (const role of report.roles) {
    if (role.holders.length === 0 && role.could_become.length === 0) continue
    add(`### ${role.name}`, '', `Administered by: ${role.admin_path.slice(1).join(' -> ') || 'itself'}`, '')
    for (const holder of role.holders)
      add(
        `- ${accountText(holder)}, confirmed by ${holder.confirmed_by}${holder.granted ? `, granted in \`${holder.granted.transaction}\` (block ${holder.granted.block_number})` : ''}`,
      )
    if (role.holders.length === 0) add('- nobody holds it now')
    add('')
  }
  for (const text of unreachableLines(report)) add(`- ${escapeOwn(text)}`)
  if (report.unreachable.length > 0) add('')
  add(...policyLines(report), ...historyLines(report), ...closingLines(report))
  return `${lines.join('\n')}\n`
}

function policyLines(report: SignedReport): string[] {
  const lines = ['## Policies', '']
  for (const scope of report.scopes)
    lines.push(
      `- ${scope.name} (${scope.meaning}): ${scope.policy_id === null ? 'not in this fork' : `policy ${factText(scope.policy_id)}, denies ${scope.denies}`}`,
    )
  for (const policy of report.policies) lines.push(`- ${escapeOwn(policyText(policy))}`)
  return [...lines, '']
}

function historyLines(report: SignedReport): string[] {
  return [
    '## Genesis and history',
    '',
    ...genesisTexts(report).flatMap((text) => [escapeMarkdown(text), '']),
    ...report.history.map((event) => `- block ${event.block_number}: ${escapeMarkdown(event.text)}`),
    ...(report.history_left_out > 0 ? [`- and ${report.history_left_out} earlier changes of lists`] : []),
    '',
  ]
}

function closingLines(report: SignedReport): string[] {
  const { completeness } = report
  return [
    '## What to ask the issuer',
    '',
    ...report.questions.map((question) => `- ${question}`),
    '',
    '## How it was read',
    '',
    `Admins: ${factText(completeness.admin_count)} in storage, set ${completeness.admin_set}. Logs ${completeness.logs.from_block} to ${completeness.logs.to_block}: ${completeness.logs.count}, gaps ${completeness.logs.gaps.length}.`,
    ...completeness.missing.map(({ code, detail }) => `- missing: \`${code}\` ${escapeMarkdown(detail)}`),
    '',
    report.network_note,
    '',
    '## Attestation',
    '',
    '```json',
    JSON.stringify(report.attestation),
    '```',
  ]
}
