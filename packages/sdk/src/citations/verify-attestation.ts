import {
  decodeAbiParameters,
  encodePacked,
  type Hex,
  hashTypedData,
  keccak256,
  recoverAddress,
  sha256,
  stringToHex,
} from 'viem'
import { fromBase64, isRecord, utf8 } from '../bytes.ts'
import { canonicalJson } from '../canonical-json.ts'
import { attesterCheck } from '../tokens/verify-report.ts'
import { readDirectory } from '../trusted-keys.ts'
import type { EvidenceCheck, EvidenceReport } from '../verify-evidence.ts'
import {
  type Checkpoint,
  cosignedAt,
  isSignedByLog,
  leafHash,
  parseCheckpoint,
  parseNoteKey,
  verifyInclusion,
} from './tlog.ts'

type Message = {
  version: number
  schema: Hex
  recipient: Hex
  time: string
  expirationTime: string
  revocable: boolean
  refUID: Hex
  data: Hex
  salt: Hex
}

export type CitationAttestation = {
  id: string
  record: Record<string, unknown> & { node: string; agent_wallet: string }
  attestation: {
    sig: {
      uid: Hex
      domain: { name: string; version: string; chainId: number; verifyingContract: Hex }
      message: Message
      signature: { r: Hex; s: Hex; v: number }
    }
    signer: Hex
    attester_statement: string
    key_id: string
    public_key: string
  }
  log: {
    state: string
    leaf_index?: string
    tree_size?: string
    inclusion_proof?: string[]
    checkpoint?: string
    keys?: string[]
    witness_keys?: string[]
  }
}

/** Undefined for anything that is not an attestation of a citation or claim. */
export function parseAttestation(value: unknown): CitationAttestation | undefined {
  if (!isRecord(value) || !isRecord(value.record) || !isRecord(value.attestation) || !isRecord(value.log))
    return undefined
  const { record, attestation } = value
  if (!/^assay\.(?:citation|claim)\/v1$/.test(String(record.type)) || typeof record.node !== 'string') return undefined
  const { sig } = attestation
  if (!isRecord(sig) || !isRecord(sig.message) || !isRecord(sig.signature) || !isRecord(sig.domain)) return undefined
  return value as unknown as CitationAttestation
}

const passed = (name: string, detail: string): EvidenceCheck => ({ name, status: 'passed', detail })
const failed = (name: string, detail: string): EvidenceCheck => ({ name, status: 'failed', detail })
const notChecked = (name: string, detail: string): EvidenceCheck => ({ name, status: 'not_checked', detail })

export type VerifyAttestationOptions = {
  /** Keys of the node from another source than the file. */
  trustedDirectory?: unknown
  /** Keys of witnesses you trust, as `name+id+base64`; those in the file are used otherwise, and said to be. */
  witnesses?: readonly string[]
}

/** Checks an attestation with nothing but its own bytes and the keys given. */
export async function verifyAttestation(
  file: CitationAttestation,
  options: VerifyAttestationOptions = {},
): Promise<EvidenceReport> {
  const checks = await Promise.all([
    guarded('record', () => recordCheck(file)),
    guarded('signature', () => signatureCheck(file)),
    guarded('attester', () => attester(file)),
    keyCheck(file, options.trustedDirectory),
  ])
  checks.push(...(await logChecks(file, options)))
  checks.push(notChecked('truth', 'that these bytes were served and paid for is attested, never that they are true'))
  return { ok: checks.every((check) => check.status !== 'failed'), checks }
}

async function guarded(name: string, check: () => EvidenceCheck | Promise<EvidenceCheck>): Promise<EvidenceCheck> {
  try {
    return await check()
  } catch {
    return failed(name, 'it cannot be read')
  }
}

const recordText = (file: CitationAttestation) => canonicalJson(file.record) ?? ''

/** The signed data begin with the digest of the record, and name source, agent and payer. */
function recordCheck(file: CitationAttestation): EvidenceCheck {
  const [digest, url, , , , , agent] = decodeAbiParameters(
    ['bytes32', 'string', 'bytes32', 'bytes32', 'bytes32', 'bytes32', 'address', 'address', 'uint64'].map((type) => ({
      type,
    })),
    file.attestation.sig.message.data,
  )
  if (digest !== sha256(utf8(recordText(file)))) return failed('record', 'the record was changed after it was attested')
  if (String(agent).toLowerCase() !== file.record.agent_wallet.toLowerCase())
    return failed('record', 'the attestation names another agent')
  return passed('record', `${file.record.agent_wallet} cited ${String(url)}`)
}

async function signatureCheck({ attestation }: CitationAttestation): Promise<EvidenceCheck> {
  const { message, domain, signature, uid } = attestation.sig
  const typed = {
    ...message,
    time: BigInt(message.time),
    expirationTime: BigInt(message.expirationTime),
  }
  const digest = hashTypedData({ domain, types: attestTypes, primaryType: 'Attest', message: typed })
  const signer = await recoverAddress({
    hash: digest,
    signature: `${signature.r}${signature.s.slice(2)}${signature.v.toString(16).padStart(2, '0')}` as Hex,
  })
  if (signer.toLowerCase() !== attestation.signer.toLowerCase())
    return failed('signature', 'it was not signed by the signer it names')
  const expected = keccak256(
    encodePacked(
      ['uint16', 'bytes', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'bytes32', 'uint32'],
      [
        typed.version,
        stringToHex(typed.schema),
        typed.recipient,
        '0x0000000000000000000000000000000000000000',
        typed.time,
        typed.expirationTime,
        typed.revocable,
        typed.refUID,
        typed.data,
        typed.salt,
        0,
      ],
    ),
  )
  if (expected !== uid) return failed('signature', 'the identifier does not follow from the attestation')
  return passed('signature', `signed by ${attestation.signer}, ${new Date(Number(message.time) * 1000).toISOString()}`)
}

const attestTypes = {
  Attest: [
    { name: 'version', type: 'uint16' },
    { name: 'schema', type: 'bytes32' },
    { name: 'recipient', type: 'address' },
    { name: 'time', type: 'uint64' },
    { name: 'expirationTime', type: 'uint64' },
    { name: 'revocable', type: 'bool' },
    { name: 'refUID', type: 'bytes32' },
    { name: 'data', type: 'bytes' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const

function attester({ attestation, record }: CitationAttestation): Promise<EvidenceCheck> {
  const { signer, key_id, public_key, attester_statement, sig } = attestation
  return attesterCheck({
    attester: signer,
    node: record.node,
    key_id,
    public_key,
    attester_statement,
    message: { chainId: String(sig.domain.chainId) },
  })
}

function keyCheck({ attestation, record }: CitationAttestation, directory: unknown): EvidenceCheck {
  if (directory === undefined)
    return notChecked('keys', `the key comes from the file itself; whether it is that of ${record.node} is not known`)
  const known = readDirectory(directory).keys.find((key) => key.keyId === attestation.key_id)
  return known?.x === attestation.public_key
    ? passed('keys', 'the key is in the given directory')
    : failed('keys', 'the key is not in the given directory')
}

async function logChecks(file: CitationAttestation, options: VerifyAttestationOptions): Promise<EvidenceCheck[]> {
  const { log } = file
  if (log.state !== 'logged') return [notChecked('log', 'the file was saved before the entry had its place in the log')]
  const checkpoint = parseCheckpoint(log.checkpoint ?? '')
  if (!checkpoint) return [failed('log', 'the tree head cannot be read')]
  return [
    inclusionCheck(file, checkpoint),
    await treeHeadCheck(file, checkpoint, options.trustedDirectory),
    await witnessCheck(checkpoint, options.witnesses, log.witness_keys ?? []),
  ]
}

function inclusionCheck(file: CitationAttestation, checkpoint: Checkpoint): EvidenceCheck {
  const path = (file.log.inclusion_proof ?? []).map((text) => fromBase64(text) ?? new Uint8Array())
  const leaf = leafHash(utf8(recordText(file)))
  const index = Number(file.log.leaf_index)
  return verifyInclusion(leaf, index, checkpoint.size, path, checkpoint.root)
    ? passed('inclusion', `entry ${index} of ${checkpoint.size} in ${checkpoint.origin}`)
    : failed('inclusion', 'the record is not in the tree that the log signed')
}

/** The log is signed by a key of the node: the one that attested, or one in a directory you trust. */
async function treeHeadCheck(
  file: CitationAttestation,
  checkpoint: Checkpoint,
  directory: unknown,
): Promise<EvidenceCheck> {
  const own = [file.attestation.public_key, ...readDirectory(directory).keys.map(({ x }) => x)]
  for (const vkey of file.log.keys ?? []) {
    const key = parseNoteKey(vkey)
    if (key?.name === checkpoint.origin && own.includes(key.x) && (await isSignedByLog(checkpoint, key)))
      return passed('checkpoint', `the tree head is signed by ${key.name}`)
  }
  return failed('checkpoint', 'the tree head is not signed by a key of this node')
}

async function witnessCheck(
  checkpoint: Checkpoint,
  trusted: readonly string[] | undefined,
  named: readonly string[],
): Promise<EvidenceCheck> {
  const signed: string[] = []
  for (const vkey of trusted ?? named) {
    const key = parseNoteKey(vkey)
    const seconds = key && (await cosignedAt(checkpoint, key))
    if (key && seconds !== undefined) signed.push(`${key.name} at ${new Date(seconds * 1000).toISOString()}`)
  }
  const detail = signed.join(', ')
  if (trusted !== undefined && trusted.length > 0)
    return signed.length > 0 ? passed('witnesses', detail) : failed('witnesses', 'no witness that you trust has signed')
  return signed.length > 0
    ? passed('witnesses', `${detail}; their keys come from the file itself`)
    : notChecked('witnesses', 'no witness has signed this tree head yet; fetch the attestation again')
}
