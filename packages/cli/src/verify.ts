import { readFile } from 'node:fs/promises'
import type { EvidenceCheck, EvidenceReport } from '@assay/sdk'
import { type AddCommand, type CommandContext, jsonOption } from './command-context.ts'
import { CliError, exitCodes, usageError } from './exit-codes.ts'
import { printResult } from './output.ts'

type VerifyOptions = { json?: boolean; online?: boolean; keys?: string; witness?: string[] }

export const addVerify: AddCommand = (program, context) => {
  program
    .command('verify')
    .summary('check an answer that was saved, offline')
    .description(
      'Checks a file that `assay buy --save` wrote, a report on a token (`assay report --out`), or the attestation of a citation or claim (`assay cite --out`): the signature over answer and request, the body digest, the key at that ' +
        'time and whether it was revoked, the receipt, and that the payment was made for this very request.\n' +
        'It needs no network and says what it did not check.',
    )
    .argument('<file>', 'the evidence file, or - for standard input')
    .option('--online', 'compare with the keys the node publishes now, revocations since then included')
    .option(
      '--witness <vkey>',
      'key of a witness you trust, for attestations; may be repeated',
      (value: string, earlier: string[]) => [...earlier, value],
      [],
    )
    .option('--keys <file>', 'a key directory you trust, such as one kept from an earlier visit')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay verify answer.json --online')
    .action((file: string, options: VerifyOptions) => runVerify(context, file, options))
}

async function runVerify({ terminal, endWith }: CommandContext, file: string, options: VerifyOptions): Promise<void> {
  const text = file === '-' ? (await terminal.readInput()).toString('utf8') : await readText(file)
  const { parseAttestation, parseEvidence, parseTokenReport, verifyAttestation, verifyEvidence, verifyTokenReport } =
    await import('@assay/sdk')
  const parsed = parseJson(text)
  const tokenReport = parseTokenReport(parsed)
  if (tokenReport !== undefined) {
    const directory = await trustedKeys(new URL(tokenReport.attestation.node).origin, options)
    const checked = await verifyTokenReport(tokenReport, directory === undefined ? {} : { trustedDirectory: directory })
    return printChecks({ terminal, endWith }, file, tokenReport.attestation.node, checked, options)
  }
  const attestation = parseAttestation(parsed)
  if (attestation !== undefined) {
    const directory = await trustedKeys(new URL(attestation.record.node).origin, options)
    const checked = await verifyAttestation(attestation, {
      ...(directory === undefined ? {} : { trustedDirectory: directory }),
      ...(options.witness === undefined || options.witness.length === 0 ? {} : { witnesses: options.witness }),
    })
    return printChecks({ terminal, endWith }, file, attestation.record.node, checked, options)
  }
  const evidence = parseEvidence(parsed)
  if (evidence === undefined)
    throw new CliError(exitCodes.notVerified, 'not_evidence', `${file} is not an evidence file`, {
      hint: 'Evidence is what `assay buy --save <file>` writes; a report is what `assay report --out <file>` writes.',
    })
  const trusted = await trustedKeys(evidence.keys.origin, options)
  const report = await verifyEvidence(evidence, trusted === undefined ? {} : { trustedDirectory: trusted })
  printChecks({ terminal, endWith }, file, evidence.request.url, report, options)
}

function printChecks(
  { terminal, endWith }: CommandContext,
  file: string,
  url: string,
  report: EvidenceReport,
  options: VerifyOptions,
): void {
  printResult(terminal, options.json, { file, url, ...report }, () =>
    [...report.checks.map(checkLine), '', report.ok ? conclusion(report.checks) : 'This answer does not verify.'].join(
      '\n',
    ),
  )
  if (!report.ok) endWith(exitCodes.notVerified)
}

async function trustedKeys(origin: string, options: VerifyOptions): Promise<unknown> {
  if (options.keys !== undefined) {
    const directory = parseJson(await readText(options.keys))
    if (directory === undefined) throw usageError(`--keys: ${options.keys} is not JSON`)
    return directory
  }
  return options.online ? (await import('@assay/sdk')).fetchDirectory(origin) : undefined
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => {
    throw usageError(`cannot read ${path}`)
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const marks = { passed: 'ok ', failed: 'NO ', not_checked: ' - ' } as const

function checkLine({ name, status, detail }: EvidenceCheck): string {
  return `${marks[status]} ${name.padEnd(10)} ${status === 'not_checked' ? `not checked: ${detail}` : detail}`
}

function conclusion(checks: readonly EvidenceCheck[]): string {
  const open = checks.filter((check) => check.status === 'not_checked').map((check) => check.name)
  return open.length === 0 ? 'Everything verifies.' : `All that was checked verifies; not checked: ${open.join(', ')}.`
}
