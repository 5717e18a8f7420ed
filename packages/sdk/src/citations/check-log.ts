import { fromBase64, toBase64, utf8 } from '../bytes.ts'
import { readDirectory, type TrustedKey } from '../trusted-keys.ts'
import { type CitationAttestation, type Finding, failed, guarded, notChecked, passed } from './attestation-file.ts'
import { checkAnchor } from './check-anchor.ts'
import { addressOf, recordText } from './check-record.ts'
import { checkWitnesses, findCosignatures } from './check-witnesses.ts'
import {
  type Checkpoint,
  isSignedByLog,
  leafHash,
  type NoteKey,
  parseCheckpoint,
  parseNoteKey,
  verifyInclusion,
} from './tlog.ts'
import type { VerifyAttestationOptions } from './verify-attestation.ts'

type ShownLog = CitationAttestation['log'] & { origin?: string; leaf_hash?: string; url?: string }

export async function checkLog(file: CitationAttestation, options: VerifyAttestationOptions): Promise<Finding[]> {
  const log: ShownLog = file.log
  if (log.state !== 'logged') return [checkUnlogged(file, log, options)]
  const head = parseCheckpoint(typeof log.checkpoint === 'string' ? log.checkpoint : '')
  if (!head) return [{ check: failed('log', 'the tree head cannot be read') }]
  const key = await findHeadKey(file, head, options.trustedDirectory)
  const cosignatures = await findCosignatures(head, file.log.witness_keys, options.witnesses)
  return [
    await guarded('inclusion', () => checkInclusion(file, log, head)),
    await guarded('checkpoint', () => checkHead(log, head, key, cosignatures.verified.length)),
    checkHeadKey(file, key, cosignatures.times, options),
    await guarded('witnesses', () => checkWitnesses(file, cosignatures, options)),
    await guarded('anchor', () => checkAnchor(file, head, options)),
  ]
}

/** Whoever demands a log gets no pass from a file that says it has none yet. */
function checkUnlogged(file: CitationAttestation, log: ShownLog, options: VerifyAttestationOptions): Finding {
  const { state, url, ...proof } = log
  if (state !== 'pending' || Object.keys(proof).length > 0)
    return { check: failed('log', 'the file carries a proof and does not say that it is logged') }
  if (url !== addressOf(file)) return { check: failed('log', 'the address is not that of the record') }
  if (options.policy?.logged || options.witnesses !== undefined)
    return { check: failed('log', 'the file says that it is not in the log yet; fetch the attestation again') }
  return {
    check: notChecked('log', 'the file was saved before the entry had its place in the log'),
    covers: ['log.url'],
  }
}

function checkInclusion(file: CitationAttestation, log: ShownLog, head: Checkpoint): Finding {
  const path = (log.inclusion_proof ?? []).map((text) => fromBase64(text) ?? new Uint8Array())
  const leaf = leafHash(utf8(recordText(file)))
  const index = Number(log.leaf_index)
  if (!verifyInclusion(leaf, index, head.size, path, head.root))
    return { check: failed('inclusion', 'the record is not in the tree that the log signed') }
  const derived = {
    origin: head.origin,
    leaf_index: String(index),
    leaf_hash: toBase64(leaf),
    tree_size: String(head.size),
  }
  const differing = Object.entries(derived).filter(([name, value]) => log[name as keyof typeof derived] !== value)
  if (differing.length > 0)
    return { check: failed('inclusion', `not what was signed: ${differing.map(([name]) => `log.${name}`).join(', ')}`) }
  return {
    check: passed('inclusion', `entry ${index} of ${head.size} in ${head.origin}`),
    covers: [...Object.keys(derived).map((name) => `log.${name}`), 'log.inclusion_proof', 'log.inclusion_proof.**'],
  }
}

type HeadKey = { place: number; key: NoteKey; known: TrustedKey | undefined }

/** The log is signed by a key of the node: one in the directory you trust, or without one the key that attested. */
async function findHeadKey(
  file: CitationAttestation,
  head: Checkpoint,
  directory: unknown,
): Promise<HeadKey | undefined> {
  const trusted = readDirectory(directory).keys
  for (const [place, vkey] of (file.log.keys ?? []).entries()) {
    const key = parseNoteKey(vkey)
    const known = trusted.find(({ x }) => x === key?.x)
    const own = directory === undefined ? key?.x === file.attestation.public_key : known !== undefined
    if (key?.name === head.origin && own && (await isSignedByLog(head, key))) return { place, key, known }
  }
  return undefined
}

function checkHead(log: ShownLog, head: Checkpoint, found: HeadKey | undefined, cosignatures: number): Finding {
  if (!found) return { check: failed('checkpoint', 'the tree head is not signed by a key of this node') }
  if ((log.keys ?? []).some((vkey) => parseNoteKey(vkey) === undefined))
    return { check: failed('checkpoint', 'a key of the log cannot be read') }
  // A signature whose key is not known is neither good nor bad, but then the text is not covered as a whole.
  const whole = head.signatures.length === 1 + cosignatures
  return {
    check: passed('checkpoint', `the tree head is signed by ${found.key.name}`),
    covers: ['log.state', `log.keys[${found.place}]`, ...(whole ? ['log.checkpoint'] : [])],
  }
}

/** Clocks of two machines may differ by so much. */
const skewSeconds = 60

export const isValidAt = (key: TrustedKey, seconds: number) =>
  seconds >= key.notBefore - skewSeconds && (key.notAfter === undefined || seconds <= key.notAfter)

/** A tree head has no time of its own: it was signed before the first witness signed it. */
function checkHeadKey(
  file: CitationAttestation,
  found: HeadKey | undefined,
  times: readonly number[],
  { trustedDirectory, policy }: VerifyAttestationOptions,
): Finding {
  const open = (detail: string) => ({ check: (policy?.keyValid ? failed : notChecked)('head_key', detail) })
  if (trustedDirectory === undefined) return open('when the key of the log was valid is not known without a directory')
  if (!found?.known) return { check: failed('head_key', 'the key of the log is not in the given directory') }
  const signedAt = Number(file.attestation.sig.message.time)
  const headAt = times.length === 0 ? signedAt : Math.min(...times)
  if (!isValidAt(found.known, headAt))
    return { check: failed('head_key', 'the key was not valid when the head was signed') }
  if (times.length === 0) return open('when the tree head was signed is not known without a witness')
  return { check: passed('head_key', 'the key of the log was valid when the head was signed') }
}
