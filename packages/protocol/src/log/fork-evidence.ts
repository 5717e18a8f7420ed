import { fromBase64 } from '../base64.ts'
import { sameBytes } from '../bytes.ts'
import { isRecord } from '../json-object.ts'
import { isSignedByLog, parseCheckpoint } from './checkpoint.ts'
import { verifyConsistency } from './verify-proof.ts'

/**
 * Two heads that one log signed and that cannot both be true. At one size the roots differ; at two sizes the proof shows
 * that the larger tree begins with another tree than the smaller head says. It needs nothing but this file to check.
 */
export type ForkEvidence = {
  format: 'assay-log-fork'
  version: 1
  origin: string
  /** Keys of the log, one of which signed each head. */
  keys: string[]
  /** The smaller head first. */
  heads: [string, string]
  sources: [string, string]
  /** Absent when both heads have one size. */
  consistency?: { prefix_root: string; proof: string[] }
  seen_at: string
}

export type ForkVerdict = { proven: true; origin: string; sizes: [number, number] } | { proven: false; reason: string }

const no = (reason: string): ForkVerdict => ({ proven: false, reason })

/** Undefined for anything that is not such a file. `pinned` are keys the verifier has from elsewhere. */
export async function verifyForkEvidence(value: unknown, pinned?: readonly string[]): Promise<ForkVerdict | undefined> {
  if (!isRecord(value) || value.format !== 'assay-log-fork') return undefined
  const texts = Array.isArray(value.heads) ? value.heads : []
  const [smaller, larger] = texts.map((text) => (typeof text === 'string' ? parseCheckpoint(text) : undefined))
  if (texts.length !== 2 || !smaller || !larger) return no('a head cannot be read')
  const keys = pinned ?? (Array.isArray(value.keys) ? value.keys.filter((key) => typeof key === 'string') : [])
  if (smaller.origin !== larger.origin || smaller.origin !== value.origin) return no('the heads are of two logs')
  if (!(await isSignedByLog(smaller, keys)) || !(await isSignedByLog(larger, keys)))
    return no('a head is not signed by a key of the log')
  const proven: ForkVerdict = { proven: true, origin: smaller.origin, sizes: [smaller.size, larger.size] }
  if (smaller.size === larger.size) return sameBytes(smaller.root, larger.root) ? no('the heads are the same') : proven
  const { consistency } = value
  const proof = isRecord(consistency) ? consistency : {}
  const hashes = Array.isArray(proof.proof) ? proof.proof.map(toBytes) : []
  const prefixRoot = toBytes(proof.prefix_root)
  if (smaller.size === 0 || smaller.size > larger.size || hashes.length > 64) return no('the proof cannot be read')
  if (!verifyConsistency(smaller.size, larger.size, hashes, prefixRoot, larger.root))
    return no('the proof does not lead to the root of the larger head')
  return sameBytes(prefixRoot, smaller.root) ? no('the larger tree begins with the smaller one') : proven
}

const toBytes = (text: unknown) =>
  (typeof text === 'string' && text.length < 100 ? fromBase64(text) : undefined) ?? new Uint8Array()
