import { makePdf } from '../../make-pdf.ts'
import { powerNames } from '../evaluate/types.ts'
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
import type { SignedReport } from './render-markdown.ts'

/** The report as a document to file; the JSON of the same report is what verifies. */
export function renderPdf(report: SignedReport): Promise<Buffer> {
  const { token, block } = report
  const title = `${factText(token.name)} (${factText(token.symbol)}): ${report.verdict}`
  return makePdf(title, new Date(block.at), ({ text, gap }) => {
    const section = (name: string, lines: readonly string[]) => {
      gap()
      text(name, 13)
      text(lines.length === 0 ? 'None.' : lines.join('\n'), 9)
    }
    text(title, 18)
    text(`${report.address} on ${report.network}`)
    if ('synthetic' in report) text('Synthetic demo data.')
    gap()
    text(report.summary, 12)
    text(`Read at block ${block.number} (${block.hash}), ${block.at}.`)
    text(`${report.complete ? 'Complete' : 'NOT complete'}; valid until ${report.valid_until_at}.`)
    section(
      'Powers',
      powerNames.flatMap((name) => powerLines(report, name)),
    )
    section(
      'Flags',
      report.flags.map(({ severity, code, sentence }) => `${severity}: ${code}. ${sentence}`),
    )
    section('Supply, pause and multiplier', [supplyText(report), pauseText(report), multiplierText(report)])
    section('Seize paths', seizePathTexts(report))
    section('Roles', [...report.roles.flatMap(roleLines), ...unreachableLines(report)])
    section('Policies', [...report.scopes.map(scopeLine), ...report.policies.map(policyText)])
    section('Genesis', genesisTexts(report))
    section('Timeline', timelineOf(report))
    section('What to ask the issuer', report.questions)
    section('How it was read', readingLines(report))
    section('Attestation', [JSON.stringify(report.attestation)])
  })
}

function powerLines({ powers }: SignedReport, name: (typeof powerNames)[number]): string[] {
  const power = powers[name]
  if (power === undefined) return []
  const named = (what: string, parties: typeof power.who) =>
    parties.length === 0 ? [] : [`    ${what}: ${parties.map(accountText).join('; ')}`]
  return [
    `${name}: ${power.state}. ${power.why}`,
    ...named('can now', power.who),
    ...named('could', power.could_become),
  ]
}

function roleLines({ name, holders, could_become, admin_path }: SignedReport['roles'][number]): string[] {
  if (holders.length === 0 && could_become.length === 0) return []
  const held = holders.map((holder) => {
    const since = holder.granted === null ? '' : `, granted in block ${holder.granted.block_number}`
    return `    ${accountText(holder)}${since}`
  })
  return [
    `${name}, administered by ${admin_path.slice(1).join(' > ') || 'itself'}:`,
    ...(held.length > 0 ? held : ['    nobody']),
  ]
}

const scopeLine = ({ name, meaning, policy_id, denies }: SignedReport['scopes'][number]) =>
  `${name} (${meaning}): ${policy_id === null ? 'not in this fork' : `policy ${factText(policy_id)}, denies ${denies}`}`

function timelineOf({ history, history_left_out }: SignedReport): string[] {
  const left = history_left_out > 0 ? [`and ${history_left_out} earlier changes of lists`] : []
  return [...history.map((event) => `block ${event.block_number}: ${event.text}`), ...left]
}

function readingLines({ completeness, network_note, method_version }: SignedReport): string[] {
  const { logs, admin_count, admin_set, missing } = completeness
  return [
    `Admins in storage: ${factText(admin_count)}, set ${admin_set}. Logs of blocks ${logs.from_block} to ${logs.to_block}: ${logs.count}, gaps ${logs.gaps.length}. Method ${method_version}.`,
    ...missing.map(({ code, detail }) => `${code}: ${detail}`),
    network_note,
  ]
}
