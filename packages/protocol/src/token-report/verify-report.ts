import { hashTypedData, recoverAddress } from 'viem/utils'
import type { Hex } from '../bytes.ts'
import type { Json } from '../canonical-json.ts'
import { failed, notChecked, passed } from '../evidence/attestation-file.ts'
import type { EvidenceCheck, EvidenceReport } from '../evidence/verify-evidence.ts'
import { isRecord, readJsonObject } from '../json-object.ts'
import { isSignedJws, readJws } from '../jws.ts'
import { readDirectory } from '../keys/key-directory.ts'
import { controlAttestation, reportHash } from '../typed-data/control-attestation.ts'
import { proofCheck } from './verify-proof.ts'

type Attestation = {
  node: string
  message: {
    chainId: string
    token: Hex
    blockNumber: string
    blockHash: Hex
    verdict: string
    complete: boolean
    reportHash: Hex
    validUntil: string
  }
  attester: Hex
  signature: Hex
  key_id: string
  public_key: string
  attester_statement: string
}

export type TokenReport = Record<string, unknown> & { attestation: Attestation }

const fits = (pattern: RegExp, value: unknown) => typeof value === 'string' && pattern.test(value)
const [hash, address, digits] = [/^0x[0-9a-f]{64}$/i, /^0x[0-9a-f]{40}$/i, /^[0-9]{1,20}$/]

/** Undefined for anything that is not a report on a token with its attestation. */
export function parseTokenReport(value: unknown): TokenReport | undefined {
  if (!isRecord(value) || value.format !== 'assay-b20-report' || value.version !== 1) return undefined
  const { attestation } = value
  if (!isRecord(attestation) || !isRecord(attestation.message)) return undefined
  const { message } = attestation
  const wellFormed =
    [message.chainId, message.blockNumber, message.validUntil].every((text) => fits(digits, text)) &&
    [message.blockHash, message.reportHash].every((text) => fits(hash, text)) &&
    [message.token, attestation.attester].every((text) => fits(address, text)) &&
    fits(/^0x[0-9a-f]{130}$/i, attestation.signature) &&
    typeof message.verdict === 'string' &&
    typeof message.complete === 'boolean' &&
    [attestation.node, attestation.key_id, attestation.public_key, attestation.attester_statement].every(
      (text) => typeof text === 'string',
    )
  return wellFormed ? (value as TokenReport) : undefined
}

export type VerifyTokenReportOptions = {
  /** Keys of the node from another source than the file. */
  trustedDirectory?: unknown
}

/** Checks a report with nothing but its own bytes: content against hash, hash against signature, signer against the node's key. */
export async function verifyTokenReport(
  report: TokenReport,
  options: VerifyTokenReportOptions = {},
): Promise<EvidenceReport> {
  const checks = [
    contentCheck(report),
    statedCheck(report),
    await signatureCheck(report.attestation),
    await attesterCheck(report.attestation),
    keyCheck(report.attestation, options.trustedDirectory),
    ...[proofCheck(report)].flatMap((check) => check ?? []),
    notChecked(
      'chain',
      `that block ${report.attestation.message.blockHash} is part of chain ${report.attestation.message.chainId} is for any node of that chain to say`,
    ),
  ]
  return { ok: checks.every((check) => check.status !== 'failed'), checks }
}

function hashOf(report: TokenReport): Hex | undefined {
  try {
    return reportHash(report as unknown as Record<string, Json>)
  } catch {
    return undefined
  }
}

function contentCheck(report: TokenReport): EvidenceCheck {
  const same = hashOf(report) === report.attestation.message.reportHash.toLowerCase()
  return same
    ? passed('content', 'the report is the one that was attested')
    : failed('content', 'the report was changed after it was attested')
}

/** What is signed must be what the report says in its own words. */
function statedCheck(report: TokenReport): EvidenceCheck {
  const { message } = report.attestation
  const block = isRecord(report.block) ? report.block : {}
  const same =
    String(report.chain_id) === message.chainId &&
    String(report.address).toLowerCase() === message.token.toLowerCase() &&
    block.hash === message.blockHash &&
    block.number === message.blockNumber &&
    report.verdict === message.verdict &&
    report.complete === message.complete &&
    report.node === report.attestation.node &&
    Math.floor(Date.parse(String(report.valid_until_at)) / 1000) === Number(message.validUntil)
  if (!same) return failed('statement', 'the attestation speaks of something else than the report')
  return passed('statement', `${message.verdict} for ${message.token} at block ${message.blockNumber}`)
}

async function signatureCheck({ node, message, attester, signature }: Attestation): Promise<EvidenceCheck> {
  const facts = {
    ...message,
    chainId: Number(message.chainId),
    blockNumber: BigInt(message.blockNumber),
    validUntil: Number(message.validUntil),
  }
  const digest = hashTypedData(controlAttestation(facts, node))
  const signer = await recoverAddress({ hash: digest, signature }).catch(() => undefined)
  return signer?.toLowerCase() === attester.toLowerCase()
    ? passed('signature', `signed by ${attester} (EIP-712)`)
    : failed('signature', 'the signature is not by the attester it names')
}

/** The node's own key says whose address the attester is. */
export async function attesterCheck(
  attestation: Pick<Attestation, 'attester' | 'node' | 'key_id' | 'public_key' | 'attester_statement'> & {
    message: { chainId: string }
  },
): Promise<EvidenceCheck> {
  const jws = readJws(attestation.attester_statement)
  const statement = readJsonObject(jws?.payload)
  if (jws === undefined || statement === undefined)
    return failed('attester', 'the statement about the attester cannot be read')
  const about =
    statement.type === 'assay-attester' &&
    String(statement.attester).toLowerCase() === attestation.attester.toLowerCase() &&
    statement.node === attestation.node &&
    String(statement.chain_id) === attestation.message.chainId &&
    jws.kid.endsWith(`#${attestation.key_id}`)
  if (!about) return failed('attester', 'the statement is about another attester or node')
  return (await isSignedJws(jws, attestation.public_key))
    ? passed('attester', `the key ${attestation.key_id} of ${attestation.node} names it`)
    : failed('attester', 'the statement about the attester is not signed by the key it names')
}

function keyCheck({ key_id, public_key, node }: Attestation, directory: unknown): EvidenceCheck {
  if (directory === undefined)
    return notChecked('keys', `the key comes from the report itself; whether it is that of ${node} is not known`)
  const known = readDirectory(directory).keys.find((key) => key.keyId === key_id)
  return known?.x === public_key
    ? passed('keys', 'the key is in the given directory')
    : failed('keys', 'the key is not in the given directory')
}
