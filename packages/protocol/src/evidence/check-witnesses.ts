import { isRecord } from '../json-object.ts'
import { type SignedHead, witnessedAt } from '../log/checkpoint.ts'
import { type NoteKey, parseNoteKey, signatureTypes } from '../log/signed-note.ts'
import { type CitationAttestation, type Finding, failed, notChecked, passed } from './attestation-file.ts'
import type { VerifyAttestationOptions } from './verify-attestation.ts'

type Cosignature = { name: string; keyId: string; seconds: number }

export type Cosignatures = {
  /** The file lists more keys than are read. */
  tooMany: boolean
  /** Undefined where a text is not a key of a witness. */
  named: readonly (NoteKey | undefined)[]
  trusted: readonly (NoteKey | undefined)[] | undefined
  /** By a key in the file or a trusted one. */
  verified: readonly Cosignature[]
  /** By a trusted key, or by any where none is trusted, in unix seconds. */
  times: readonly number[]
  /** By a trusted key only: anyone who stole a key can make a witness that says anything. */
  trustedTimes: readonly number[]
}

/** Witnesses of one head: each key that a file lists costs a verifier a signature. */
export const witnessKeysMax = 32
const latestSeconds = 253_402_300_799

export async function findCosignatures(
  head: SignedHead,
  named: unknown,
  trusted: readonly string[] | undefined,
): Promise<Cosignatures> {
  const listed = Array.isArray(named) ? named : []
  const tooMany = listed.length > witnessKeysMax
  const fromFile = tooMany ? [] : listed.map(readWitnessKey)
  const given = trusted && [...new Set(trusted)].map(readWitnessKey)
  const verified: Cosignature[] = []
  for (const key of [...fromFile, ...(given ?? [])]) {
    const seconds = key && (await witnessedAt(head, key))
    if (!key || seconds === undefined || seconds > latestSeconds || verified.some((one) => isBy(one, key))) continue
    verified.push({ name: key.name, keyId: key.keyId, seconds })
  }
  const counted = given ? verified.filter((one) => given.some((key) => isBy(one, key))) : verified
  const times = counted.map(({ seconds }) => seconds)
  return { tooMany, named: fromFile, trusted: given, verified, times, trustedTimes: given ? times : [] }
}

function readWitnessKey(vkey: unknown): NoteKey | undefined {
  const key = typeof vkey === 'string' ? parseNoteKey(vkey) : undefined
  return key?.type === signatureTypes.cosignature ? key : undefined
}

const isBy = (one: Cosignature, key: NoteKey | undefined) => one.name === key?.name && one.keyId === key.keyId
const timeText = (seconds: number) => new Date(seconds * 1000).toISOString()
const shortTime = (seconds: number) => timeText(seconds).replace('.000Z', 'Z')
const listText = (list: readonly Cosignature[]) =>
  list.map(({ name, seconds }) => `${name} at ${timeText(seconds)}`).join(', ')

export function checkWitnesses(
  file: CitationAttestation,
  found: Cosignatures,
  options: VerifyAttestationOptions,
): Finding {
  const shown = shownWitnesses(file, found)
  if ('problem' in shown) return { check: failed('witnesses', shown.problem) }
  const check = found.trusted ? countTrusted(found, found.trusted, options) : countNamed(found, options)
  return { check, covers: shown.covers }
}

/** The list beside the tree head must be what the tree head holds. One whose key is not in the file is not covered. */
function shownWitnesses(file: CitationAttestation, found: Cosignatures): { problem: string } | { covers: string[] } {
  const { witnesses } = file.log as { witnesses?: unknown }
  if (found.tooMany) return { problem: `the file lists more than ${witnessKeysMax} keys of witnesses` }
  if (!Array.isArray(witnesses) || !witnesses.every(isRecord)) return { problem: 'the list of witnesses is missing' }
  if (found.named.includes(undefined)) return { problem: 'a key of a witness in the file cannot be read' }
  const covers = [
    ...(witnesses.length === 0 ? ['log.witnesses'] : []),
    ...found.named.flatMap((key, index) =>
      found.verified.some((one) => isBy(one, key)) ? [`log.witness_keys[${index}]`] : [],
    ),
  ]
  for (const [index, { name, cosigned_at }] of witnesses.entries()) {
    if (![...found.named, ...(found.trusted ?? [])].some((key) => key?.name === name)) continue
    const same = found.verified.some(
      (one) => one.name === name && [timeText(one.seconds), shortTime(one.seconds)].includes(String(cosigned_at)),
    )
    if (!same) return { problem: `the tree head does not hold the signature of ${String(name)} that the file lists` }
    covers.push(`log.witnesses[${index}].name`, `log.witnesses[${index}].cosigned_at`)
  }
  const listed = new Set(witnesses.map(({ name }) => name))
  if (found.verified.some(({ name, keyId }) => !listed.has(name) && found.named.some((key) => key?.keyId === keyId)))
    return { problem: 'the file does not list every witness that signed' }
  return { covers }
}

function countTrusted(
  { verified }: Cosignatures,
  trusted: readonly (NoteKey | undefined)[],
  { policy }: VerifyAttestationOptions,
) {
  if (trusted.length === 0) return failed('witnesses', 'the list of trusted witnesses is empty')
  if (trusted.includes(undefined)) return failed('witnesses', 'a given key is not the key of a witness')
  // The same key under two names is one witness.
  const keys = new Map(trusted.flatMap((key) => (key ? [[key.x, key] as const] : [])))
  const { atLeast, of } = policy?.witnesses ?? { atLeast: keys.size, of: keys.size }
  if (keys.size !== of)
    return failed('witnesses', `the policy speaks of ${of} witnesses, and the keys of ${keys.size} were given`)
  const signed = [...keys.values()].flatMap((key) => verified.filter((one) => isBy(one, key)))
  return signed.length >= atLeast
    ? passed('witnesses', listText(signed))
    : failed('witnesses', `${signed.length} of ${of} trusted witnesses signed, at least ${atLeast} must`)
}

function countNamed({ verified }: Cosignatures, { policy }: VerifyAttestationOptions) {
  if (policy?.witnesses)
    return failed('witnesses', 'the policy counts witnesses that you trust, and no key of one was given')
  if (verified.length > 0) return passed('witnesses', `${listText(verified)}; their keys come from the file itself`)
  const detail = 'no witness has signed this tree head yet; fetch the attestation again'
  return policy
    ? notChecked('witnesses', detail)
    : failed('witnesses', `${detail}, or accept it with the policy "logged"`)
}
