import { fromBase64, toBase64 } from '../base64.ts'
import { utf8 } from '../bytes.ts'
import { type KnownKey, wasValid } from '../keys/follow-keys.ts'
import { parseCheckpoint, type SignedHead } from '../log/checkpoint.ts'
import { leafHash } from '../log/merkle.ts'
import { isSignedBy, parseNoteKey } from '../log/signed-note.ts'
import { verifyInclusion } from '../log/verify-proof.ts'
import { type CitationAttestation, type Finding, failed, guarded, notChecked, passed } from './attestation-file.ts'
import { checkAnchor } from './check-anchor.ts'
import { addressOf, recordText } from './check-record.ts'
import { type Cosignatures, checkWitnesses, findCosignatures } from './check-witnesses.ts'
import type { ResolvedKeys } from './resolve-keys.ts'
import type { VerifyAttestationOptions } from './verify-attestation.ts'

type ShownLog = CitationAttestation['log'] & { origin?: string; leaf_hash?: string; url?: string }

/** The tree head of a file that says it is logged, and who signed it. */
export type LoggedHead = { head: SignedHead; cosignatures: Cosignatures }

export async function readHead(
  { log }: CitationAttestation,
  { witnesses }: VerifyAttestationOptions,
): Promise<LoggedHead | undefined> {
  if (log.state !== 'logged' || typeof log.checkpoint !== 'string') return undefined
  const head = parseCheckpoint(log.checkpoint)
  return head && { head, cosignatures: await findCosignatures(head, log.witness_keys, witnesses) }
}

export async function checkLog(
  file: CitationAttestation,
  logged: LoggedHead | undefined,
  resolved: ResolvedKeys,
  options: VerifyAttestationOptions,
): Promise<Finding[]> {
  const log: ShownLog = file.log
  if (log.state !== 'logged') return [checkUnlogged(file, log, options)]
  if (!logged) return [{ check: failed('log', 'the tree head cannot be read') }]
  const { head, cosignatures } = logged
  const keys = await findHeadKeys(file, head, resolved)
  return [
    await guarded('inclusion', () => checkInclusion(file, log, head)),
    await guarded('checkpoint', () => checkHead(log, head, keys, cosignatures.verified.length)),
    checkHeadKey(head, keys, cosignatures, resolved, options),
    await guarded('witnesses', () => checkWitnesses(file, cosignatures, options)),
    await guarded('anchor', () => checkAnchor(file, head, options)),
  ]
}

/** A log that was removed looks like one that is yet to come: only a policy that asks for none lets it pass. */
function checkUnlogged(file: CitationAttestation, log: ShownLog, options: VerifyAttestationOptions): Finding {
  const { state, url, ...proof } = log
  if (state !== 'pending' || Object.keys(proof).length > 0)
    return { check: failed('log', 'the file carries a proof and does not say that it is logged') }
  if (url !== addressOf(file)) return { check: failed('log', 'the address is not that of the record') }
  if (!options.policy || options.policy.logged || options.witnesses !== undefined)
    return { check: failed('log', 'the file says that it is not in the log yet; fetch the attestation again') }
  return {
    check: notChecked('log', 'the file was saved before the entry had its place in the log'),
    covers: ['log.url'],
  }
}

function checkInclusion(file: CitationAttestation, log: ShownLog, head: SignedHead): Finding {
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

/** Signers of one head: each key that a file lists costs a verifier a signature. */
const logKeysMax = 8

const listedKeys = ({ keys }: ShownLog): readonly unknown[] => (Array.isArray(keys) ? keys : [])

type HeadKeys = readonly { place: number; known: KnownKey }[]

/** Keys of this log that signed the head: reached from what is trusted, or by what the file says of itself. */
async function findHeadKeys(file: CitationAttestation, head: SignedHead, { keys }: ResolvedKeys): Promise<HeadKeys> {
  const found: { place: number; known: KnownKey }[] = []
  if (listedKeys(file.log).length > logKeysMax) return found
  for (const [place, vkey] of listedKeys(file.log).entries()) {
    const key = parseNoteKey(String(vkey))
    const known = [...keys.values()].find(({ x, purpose }) => purpose === 'log' && x === key?.x)
    if (key?.name !== head.origin || known?.origin !== head.origin) continue
    if (await isSignedBy(head, key)) found.push({ place, known })
  }
  return found
}

function checkHead(log: ShownLog, head: SignedHead, found: HeadKeys, cosignatures: number): Finding {
  if (listedKeys(log).length > logKeysMax)
    return {
      check: failed('checkpoint', `the file lists ${listedKeys(log).length} keys, ${logKeysMax} at most are read`),
    }
  if (found.length === 0) return { check: failed('checkpoint', 'the tree head is not signed by a key of this log') }
  if (listedKeys(log).some((vkey) => parseNoteKey(String(vkey)) === undefined))
    return { check: failed('checkpoint', 'a key of the log cannot be read') }
  // A signature whose key is not known is neither good nor bad, but then the text is not covered as a whole.
  const whole = head.signatures.length === found.length + cosignatures
  return {
    check: passed('checkpoint', `the tree head is signed by ${head.origin}`),
    covers: ['log.state', ...found.map(({ place }) => `log.keys[${place}]`), ...(whole ? ['log.checkpoint'] : [])],
  }
}

/** A tree head has no separate time: it was signed before the first witness signed it. */
function checkHeadKey(
  head: SignedHead,
  found: HeadKeys,
  { times, trustedTimes }: Cosignatures,
  { trusted, source }: ResolvedKeys,
  { policy }: VerifyAttestationOptions,
): Finding {
  const open = (detail: string) => ({ check: (policy?.keyValid ? failed : notChecked)('head_key', detail) })
  if (found.length === 0) return { check: failed('head_key', `no key of the log follows from ${source}`) }
  const headAt = times.length === 0 ? undefined : Math.min(...times)
  const fits = ({ known }: HeadKeys[number]) =>
    head.size > (known.treeSize ?? 0) &&
    (headAt === undefined ? known.revokedAt === undefined : wasValid(known, headAt, Math.min(...trustedTimes)))
  if (!found.some(fits)) return { check: failed('head_key', 'the key was not valid when the head was signed') }
  if (!trusted) return open('the key of the log comes from the file itself')
  if (headAt === undefined) return open('when the tree head was signed is not known without a witness')
  return { check: passed('head_key', 'the key of the log was valid when the head was signed') }
}
