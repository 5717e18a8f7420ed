import { fromBase64 } from '../base64.ts'
import { fromHex, type Hex, toHex } from '../bytes.ts'
import { isRecord } from '../json-object.ts'
import type { Checkpoint } from '../log/checkpoint.ts'
import { verifyConsistency } from '../log/verify-proof.ts'
import { type CitationAttestation, type Finding, failed, notChecked, passed } from './attestation-file.ts'
import type { VerifyAttestationOptions } from './verify-attestation.ts'

type Head = { size: number; root: string }

/**
 * A head on chain is the same for everybody. The file may name one that is of one tree with its own; whether that one is on
 * chain is for the verifier to say. Another root at the same size is a second tree, whatever the policy says.
 */
export function checkAnchor(
  { log }: CitationAttestation,
  head: Checkpoint,
  { anchors = [], policy }: VerifyAttestationOptions,
): Finding {
  const { anchor } = log as { anchor?: unknown }
  const named = anchor === undefined ? undefined : provenAnchor(anchor, head, Number(log.leaf_index))
  if (anchor !== undefined && !named)
    return { check: failed('anchor', 'the tree head and the anchor that the file names are not of one tree') }
  const covers = named ? coveredOf(named, head).map((name) => `log.anchor.${name}`) : []
  const heads: Head[] = [{ size: head.size, root: toHex(head.root) }, ...(named ? [named] : [])]
  const pairs = heads.flatMap((own) => anchors.filter(({ size }) => size === own.size).map((seen) => ({ own, seen })))
  const other = pairs.find(({ own, seen }) => seen.root.toLowerCase() !== own.root)
  if (other) return { check: failed('anchor', `the chain holds another tree of size ${other.own.size}`) }
  const [match] = pairs
  if (match) return { check: passed('anchor', `the tree of size ${match.own.size} is on chain`), covers }
  const detail = `no head of size ${heads.map(({ size }) => size).join(' or ')} that was read on chain was given`
  return { check: (policy?.anchor ? failed : notChecked)('anchor', detail), covers }
}

/** A proof binds the size of the earlier tree, which it starts from; one root may pass as a later tree of several sizes. */
const coveredOf = (named: Head, head: Checkpoint): string[] => [
  ...(named.size <= head.size ? ['size'] : []),
  'root',
  'consistency_proof',
  'consistency_proof.**',
]

/** The named head, when it holds the entry, and of it and the head of the file the later begins with the earlier. */
function provenAnchor(anchor: unknown, head: Checkpoint, leafIndex: number): Head | undefined {
  if (!isRecord(anchor) || !Array.isArray(anchor.consistency_proof)) return undefined
  const { size, root } = anchor
  if (!/^[1-9][0-9]{0,14}$/.test(String(size)) || !/^0x[0-9a-f]{64}$/.test(String(root))) return undefined
  const named = { size: Number(size), root: String(root) }
  const proof = anchor.consistency_proof.map((text) => fromBase64(String(text)) ?? new Uint8Array())
  const anchored = { size: named.size, root: fromHex(named.root as Hex) }
  const grew = named.size <= head.size ? hasGrown(anchored, head, proof) : hasGrown(head, anchored, proof)
  return named.size > leafIndex && grew ? named : undefined
}

const hasGrown = (
  earlier: Pick<Checkpoint, 'size' | 'root'>,
  later: Pick<Checkpoint, 'size' | 'root'>,
  proof: readonly Uint8Array[],
) => earlier.size > 0 && verifyConsistency(earlier.size, later.size, proof, earlier.root, later.root)
