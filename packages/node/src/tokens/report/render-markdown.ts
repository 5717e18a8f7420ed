import { powerNames } from '../judge/types.ts'
import type { Report } from './build-report.ts'

export type SignedReport = Report & { attestation: unknown; proof?: unknown }

/** Issuers choose names: nothing of theirs may become markup. */
export function escapeMarkdown(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  return text.replace(/[\\`*_{}[\]()#+\-.!|~&<>]/g, (mark) => entities[mark] ?? `\\${mark}`)
}

/** A fact or the words for not knowing it. */
export function factText(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'unknown' in value) return `unknown (${String(value.unknown)})`
  return String(value)
}

const plain = (value: unknown) => escapeMarkdown(factText(value))

type Account = { account: string; label: Record<string, unknown> }

export function labelText(label: Record<string, unknown>): string {
  if (label.kind === 'safe') return `Safe, ${String(label.threshold)} of ${(label.owners as unknown[]).length}`
  if (label.kind === 'delegated_eoa') return `account with code of ${String(label.delegate)}`
  const texts: Record<string, string> = {
    eoa: 'ordinary account',
    zero: 'address zero',
    presumed_dead: 'presumed dead',
    factory: 'the factory',
    unknown: 'kind not known',
  }
  return texts[String(label.kind)] ?? String(label.kind)
}

export const accountText = ({ account, label }: Account) => `${account} (${labelText(label)})`

export function renderMarkdown(report: SignedReport): string {
  const lines: string[] = []
  const add = (...text: string[]) => lines.push(...text)
  const { token, block, supply } = report
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
  add(
    '',
    '## Supply',
    '',
    `Total ${plain(supply.total)}, cap ${plain(supply.cap)}, headroom ${plain(supply.headroom)}, largest possible ${plain(supply.largest_possible)}.`,
  )
  add('', '## Roles', '')
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
  add(...policyLines(report), ...historyLines(report), ...closingLines(report))
  return `${lines.join('\n')}\n`
}

function policyLines(report: SignedReport): string[] {
  const lines = ['## Policies', '']
  for (const scope of report.scopes)
    lines.push(
      `- ${scope.name} (${scope.meaning}): ${scope.policy_id === null ? 'not in this fork' : `policy ${factText(scope.policy_id)}, denies ${scope.denies}`}`,
    )
  for (const policy of report.policies)
    lines.push(
      `- policy ${policy.id}: ${policy.type}, ${policy.listed_count} listed${policy.listed_complete ? '' : ' (list not complete)'}, admin ${adminText(policy.admin)}, pending ${adminText(policy.pending_admin)}`,
    )
  return [...lines, '']
}

export function adminText(admin: unknown): string {
  if (admin === null) return 'nobody'
  const party = admin as Account | { unknown: string }
  return 'account' in party ? accountText(party) : factText(party)
}

function historyLines(report: SignedReport): string[] {
  const genesis = report.genesis
  const made =
    genesis === null
      ? 'The creation could not be found.'
      : `Created in block ${genesis.block_number} by ${factText(genesis.sender)} (${genesis.via}), first admin ${genesis.first_admin ?? 'none'}, \`${genesis.transaction}\`.`
  return [
    '## Genesis and history',
    '',
    made,
    '',
    ...report.history.map((event) => `- block ${event.block_number}: ${escapeMarkdown(event.text)}`),
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
