import { readFile } from 'node:fs/promises'
import { fromUtf8 } from '@assay/protocol/bytes'
import { parseJson } from '@assay/protocol/json-object'
import type { EvidenceCheck, EvidenceReport, VerifyAttestationOptions } from '@assay/sdk'
import { type AddCommand, type CommandContext, jsonOption } from './command-context.ts'
import { nodeUrl } from './commerce/node-url.ts'
import { CliError, exitCodes, usageError } from './exit-codes.ts'
import { printResult } from './output.ts'

type VerifyOptions = {
  json?: boolean
  online?: boolean
  url?: string
  rpc?: string
  keys?: string
  witness?: string[]
  anchor?: string[]
  policy?: string
  trustKey?: string[]
  trustWallet?: string[]
  l1Block?: string
}

const collect = (value: string, earlier: string[]) => [...earlier, value]

export const addVerify: AddCommand = (program, context) => {
  program
    .command('verify')
    .summary('Verify a saved answer offline')
    .description(
      'Verify a file that `assay buy --save` or `assay cite --out` wrote, a report on a token (`assay report --out`) or its proof (`assay prove`), or an attestation (`assay attestation --out`): the signature over answer and request, the body digest, the key at that ' +
        'time and whether it was revoked, the receipt, and that the payment was made for this request.\n' +
        'It needs no network and says what it did not check.',
    )
    .argument('<file>', 'the evidence file, or - for standard input')
    .option('--rpc <url>', 'JSON-RPC endpoint to look up the payment on its chain')
    .option('--online', 'compare with the keys the node publishes now, revocations since then included')
    .option('--url <origin>', 'the node whose published keys it is compared with; default: the one in the file')
    .option(
      '--witness <vkey>',
      'key of a witness that must have signed, for attestations; may be repeated',
      collect,
      [],
    )
    .option(
      '--anchor <size:root>',
      'tree head that you read on chain, for attestations, or the address of the anchor state registry, for proofs of reports; may be repeated',
      collect,
      [],
    )
    .option('--l1-block <hash>', 'block of the parent chain that you know from elsewhere, for proofs of reports')
    .option(
      '--policy <terms>',
      'what an attestation needs: logged, witnesses=2of3, anchor, key-valid, max-age=30d; separated by commas',
    )
    .option('--keys <file>', 'a key directory you trust, such as one kept from an earlier visit')
    .option('--trust-key <key>', 'a known key of the node; later keys follow by statements', collect, [])
    .option('--trust-wallet <address>', 'the wallet of the operator, which names keys by statements', collect, [])
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  assay verify answer.json --online\n  assay verify answer.json --rpc $RPC\n  assay verify citation.json --policy logged,max-age=30d',
    )
    .action((file: string, options: VerifyOptions) => runVerify(context, file, options))
}

async function runVerify({ terminal, endWith }: CommandContext, file: string, options: VerifyOptions): Promise<void> {
  const text = fromUtf8(file === '-' ? await terminal.readInput() : await readBytes(file))
  if (text === undefined)
    throw usageError(
      `${file} is not valid UTF-8`,
      'Verify the file as it was saved: another program may have changed its encoding.',
    )
  const parsed = parseJson(text)
  const proven = await verifyProof(parsed, options)
  if (proven !== undefined) return printChecks({ terminal, endWith }, file, proven.url, proven.report, options)
  if (options.l1Block !== undefined) throw usageError('--l1-block applies to proofs of reports only')
  const demands = await readDemands(options)
  const checked = (await verifyFork(parsed, options)) ?? (await verifyFile(parsed, options, demands))
  if (checked === undefined)
    throw usageError(
      `${file} is not an evidence file`,
      'Evidence is what `assay buy --save <file>` writes; a report is what `assay report --out <file>` writes.',
    )
  // Demands that nothing was checked against would read as met.
  if (!checked.logged && Object.keys(demands).length > 0)
    throw new CliError(exitCodes.notVerified, 'not_attestation', `${file} is not an attestation`, {
      hint: '--witness, --anchor and --policy apply to attestations only.',
    })
  const report = options.rpc === undefined ? checked.report : await withSettlement(parsed, checked.report, options.rpc)
  printChecks({ terminal, endWith }, file, checked.url, report, options)
}

/** The one check that needs a chain: the transfer itself. */
async function withSettlement(parsed: unknown, report: EvidenceReport, rpc: string): Promise<EvidenceReport> {
  if (!URL.canParse(rpc)) throw usageError(`--rpc: not a URL: ${rpc}`)
  const { parseEvidence } = await import('@assay/sdk')
  const evidence = parseEvidence(parsed)
  if (!evidence?.payment)
    throw usageError('--rpc applies to evidence of a payment on chain', 'This file has none: nothing was settled.')
  const { checkSettlement } = await import('./verify-settlement.ts')
  const settlement = await checkSettlement(evidence, rpc)
  const checks = report.checks.map((check) => (check.name === 'settlement' ? settlement : check))
  return { ...report, checks, ok: checks.every(({ status }) => status !== 'failed') }
}

/** What `assay prove` made of a report. */
async function verifyProof(parsed: unknown, options: VerifyOptions): Promise<Checked | undefined> {
  const { parseChainProof, verifyChainProof } = await import('@assay/sdk')
  const proof = parseChainProof(parsed)
  if (proof === undefined) return undefined
  const { l1Block, anchor: [anchor, ...more] = [] } = options
  if (l1Block !== undefined && !/^0x[0-9a-fA-F]{64}$/.test(l1Block))
    throw usageError(`--l1-block: not a block hash: ${l1Block}`)
  if (more.length > 0 || (anchor !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(anchor)))
    throw usageError('--anchor: one address for the proof of a report')
  if (options.witness?.length || options.policy !== undefined)
    throw usageError('--witness and --policy apply to attestations only')
  const { node } = proof.report.attestation
  const report = await verifyChainProof(proof, {
    ...(await trustedKeys(node, options)),
    ...(l1Block === undefined ? {} : { l1BlockHash: l1Block }),
    ...(anchor === undefined ? {} : { anchor }),
  })
  return { url: node, report, logged: false }
}

/** What `assay log monitor` keeps of a log that showed two histories. */
async function verifyFork(parsed: unknown, options: VerifyOptions): Promise<Checked | undefined> {
  if ((parsed as { format?: unknown } | null | undefined)?.format !== 'assay-log-fork') return undefined
  const { trustKeys } = trustOf(options)
  // Anybody can make a key under the name of a log, and two histories with it.
  if (options.online || options.keys !== undefined || options.trustWallet?.length || trustKeys?.some(isBareKey))
    throw usageError(
      'a fork is checked with the key of the log alone',
      'Give it as --trust-key "name+id+base64", as in `keys` of GET /v1/log.',
    )
  const { verifyForkEvidence } = await import('@assay/protocol/log/fork-evidence')
  const verdict = await verifyForkEvidence(parsed, trustKeys)
  const check: EvidenceCheck = verdict?.proven
    ? {
        name: 'fork',
        status: 'passed',
        detail: `${verdict.origin} signed two histories, at ${verdict.sizes.join(' and ')}`,
      }
    : { name: 'fork', status: 'failed', detail: verdict?.reason ?? 'it cannot be read' }
  const keys: EvidenceCheck = trustKeys
    ? { name: 'keys', status: 'passed', detail: 'only keys that you trust were taken' }
    : { name: 'keys', status: 'not_checked', detail: 'the keys of the log come from the file itself' }
  return {
    url: String((parsed as { origin?: unknown }).origin),
    report: { ok: check.status === 'passed', checks: [check, keys] },
    logged: false,
  }
}

const isBareKey = (text: string) => !text.includes('+')

type Checked = { url: string; report: EvidenceReport; logged: boolean }

/** Evidence with or without an attestation, an attestation by itself, or a report on a token. */
async function verifyFile(
  parsed: unknown,
  options: VerifyOptions,
  demands: VerifyAttestationOptions,
): Promise<Checked | undefined> {
  const { parseEvidence, parseTokenReport, verifyEvidence, verifyTokenReport } = await import('@assay/sdk')
  const tokenReport = parseTokenReport(parsed)
  if (tokenReport !== undefined) {
    const { node } = tokenReport.attestation
    const report = await verifyTokenReport(tokenReport, await trustedKeys(node, options))
    return { url: node, report, logged: false }
  }
  const evidence = parseEvidence(parsed)
  if (evidence === undefined) return undefined
  const { attestation, request, keys } = evidence
  const trusted = await trustedKeys(keys.origin, options)
  const report = await verifyEvidence(evidence, { ...trusted, ...trustOf(options), ...demands, nowMs: Date.now() })
  return { url: request?.url ?? attestation?.record.node ?? keys.origin, report, logged: attestation !== null }
}

function trustOf({ trustKey = [], trustWallet = [] }: VerifyOptions): VerifyAttestationOptions {
  const wrong = trustWallet.find((text) => !/^0x[0-9a-fA-F]{40}$/.test(text))
  if (wrong !== undefined) throw usageError(`--trust-wallet: not an address: ${wrong}`)
  const isKey = (text: string) =>
    /^[A-Za-z0-9_-]{43}$/.test(text) || /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+$/.test(text)
  const unknown = trustKey.find((text) => !isKey(text))
  if (unknown !== undefined)
    throw usageError(`--trust-key: not a key: ${unknown}`, 'Such as the x or kid of a key directory.')
  return {
    ...(trustKey.length === 0 ? {} : { trustKeys: trustKey }),
    ...(trustWallet.length === 0 ? {} : { trustWallets: trustWallet }),
  }
}

/** What the caller demands of an attestation. */
async function readDemands({ witness = [], anchor = [], policy }: VerifyOptions): Promise<VerifyAttestationOptions> {
  const { parseVerifyPolicy } = await import('@assay/sdk')
  const parsed = policy === undefined ? undefined : parseVerifyPolicy(policy)
  if (policy !== undefined && parsed === undefined)
    throw usageError(`--policy: not a policy: ${policy}`, 'Such as witnesses=2of3,anchor,key-valid,max-age=30d.')
  const anchors = anchor.map((text) => {
    const [, size, root] = /^([1-9][0-9]{0,14}):(0x[0-9a-fA-F]{64})$/.exec(text) ?? []
    if (size === undefined || root === undefined) throw usageError(`--anchor: not size:root: ${text}`)
    return { size: Number(size), root }
  })
  return {
    ...(witness.length === 0 ? {} : { witnesses: witness }),
    ...(anchors.length === 0 ? {} : { anchors }),
    ...(parsed === undefined ? {} : { policy: parsed }),
  }
}

function printChecks(
  { terminal, endWith }: CommandContext,
  file: string,
  url: string,
  report: EvidenceReport,
  options: VerifyOptions,
): void {
  const { ok, checks, notCovered } = report
  printResult(
    terminal,
    options.json,
    { file, url, ok, checks, ...(notCovered ? { not_covered: notCovered } : {}) },
    () =>
      [
        ...report.checks.map(checkLine),
        '',
        ...(report.notCovered?.length ? [`Not covered by a signature: ${report.notCovered.join(', ')}`] : []),
        report.ok ? conclusion(report.checks) : 'This answer does not verify.',
      ].join('\n'),
  )
  if (!report.ok) endWith(exitCodes.notVerified)
}

async function trustedKeys(node: string, options: VerifyOptions): Promise<{ trustedDirectory?: unknown }> {
  if (options.keys !== undefined) {
    const directory = parseJson(fromUtf8(await readBytes(options.keys)) ?? '')
    if (directory === undefined) throw usageError(`--keys: ${options.keys} is not JSON`)
    return { trustedDirectory: directory }
  }
  if (!options.online && options.url === undefined) return {}
  const origin = options.url === undefined ? new URL(node).origin : nodeUrl(options.url)
  return { trustedDirectory: await (await import('@assay/sdk')).fetchDirectory(origin) }
}

function readBytes(path: string): Promise<Buffer> {
  return readFile(path).catch(() => {
    throw usageError(`cannot read ${path}`)
  })
}

const marks = { passed: 'ok ', failed: 'NO ', not_checked: ' - ' } as const

function checkLine({ name, status, detail }: EvidenceCheck): string {
  return `${marks[status]} ${name.padEnd(10)} ${status === 'not_checked' ? `not checked: ${detail}` : detail}`
}

function conclusion(checks: readonly EvidenceCheck[]): string {
  const open = checks.filter((check) => check.status === 'not_checked').map((check) => check.name)
  return open.length === 0 ? 'Everything verifies.' : `All that was checked verifies; not checked: ${open.join(', ')}.`
}
