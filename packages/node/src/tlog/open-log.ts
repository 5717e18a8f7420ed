import { witnessKeysMax } from '@assay/protocol/evidence/check-witnesses'
import { type PublishedStatement, publishedStatement } from '@assay/protocol/keys/key-statement'
import { consistencyRanges, inclusionRanges } from '@assay/protocol/log/merkle'
import { type NoteKey, noteKey, parseNote, signatureTypes } from '@assay/protocol/log/signed-note'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { createIntegrator, type IntegrateDeps, type PlacedBatch, signHead } from './integrate.ts'
import {
  type Cosignature,
  cosignaturesOf,
  findPlace,
  firstCheckpointOver,
  newestCheckpoint,
  type StoredCheckpoint,
  type WitnessedCheckpoint,
  witnessedHeads,
} from './store.ts'
import { createTileCache } from './tile-cache.ts'
import { hashRanges } from './tiles.ts'
import { emptyRoot } from './tree-hash.ts'

/** Everything needed to check, without asking anybody, that an entry is in the log. */
export type LogProof = {
  origin: string
  leaf_index: string
  leaf_hash: string
  tree_size: string
  inclusion_proof: string[]
  checkpoint: string
  witnesses: { name: string; cosigned_at: string }[]
  /** Keys of those witnesses. */
  witness_keys: string[]
}

export type TransparencyLog = {
  readonly origin: string
  /** Places every entry that was committed before the call. */
  integrate(): Promise<void>
  /** Undefined while the entry has no place yet. `first` gives the same proof each time, `witnessed` the best one. */
  proofOf(subject: string, which: 'first' | 'witnessed'): Promise<LogProof | undefined>
  consistency(oldSize: number, size: number): Promise<Buffer[]>
  /** The newest tree head with all signatures it has by now. */
  checkpoint(): Promise<string | undefined>
  withCosignatures(checkpoint: StoredCheckpoint): Promise<string>
  /** Signed head of the empty tree, which every tree extends: sent to witnesses while there is no other head. */
  emptyHead(): string
  /** Drops what is kept in memory of the tree: the database was restored or the log repaired. */
  reset(): void
  /** The one from which all others follow, by statements. */
  firstKey(): NoteKey
  /** Keys that sign tree heads, the newest last. */
  keys(): string[]
  /** Those of them that a tree head bears. */
  keysOf(note: string): string[]
  /** What was said about these keys, and about those that sign answers. */
  keyStatements(): PublishedStatement[]
}

export function openLog(deps: IntegrateDeps): TransparencyLog {
  const { database, origin, keyring } = deps
  const { hashesOf, add: keepTiles, reset: clearTiles } = createTileCache(database)
  const recent = recentBatches()
  const withCosignatures = async (checkpoint: StoredCheckpoint) =>
    checkpoint.note +
    shownCosignatures(await cosignaturesOf(database, checkpoint.size))
      .map(({ line }) => line)
      .join('')
  return {
    origin,
    integrate: createIntegrator(deps, (batch) => {
      recent.add(batch)
      keepTiles(batch.tiles)
    }),
    consistency: (oldSize, size) => hashesOf(consistencyRanges(oldSize, size), size),
    checkpoint: async () => {
      const newest = await newestCheckpoint(database)
      return newest && withCosignatures(newest)
    },
    withCosignatures,
    emptyHead: () => signHead(deps, 0, emptyRoot),
    reset: () => {
      clearTiles()
      recent.clear()
    },
    keys: () =>
      keyring
        .keys()
        .filter(({ revokedAtMs }) => revokedAtMs === undefined)
        .map(({ x }) => keyOf(origin, x).vkey),
    firstKey: () => keyOf(origin, (keyring.keys()[0] ?? keyring.active()).x),
    keysOf: (note) =>
      keyring
        .keys()
        .map(({ x }) => keyOf(origin, x))
        .filter((key) => bears(note, key))
        .map(({ vkey }) => vkey),
    keyStatements: () => keyring.statements().map(publishedStatement),
    proofOf: async (subject, which) => {
      const placed = which === 'first' ? recent.find(subject) : undefined
      if (placed) return proofIn(origin, placed.batch, placed.index)
      const place = await findPlace(database, subject)
      if (!place) return undefined
      const { leafIndex, leafHash } = place
      const best = which === 'first' ? undefined : chooseHead(await witnessedHeads(database, leafIndex), deps)
      const checkpoint = best ?? (await firstCheckpointOver(database, leafIndex))
      if (!checkpoint) return undefined
      const path = await hashesOf(inclusionRanges(leafIndex, checkpoint.size), checkpoint.size)
      const cosignatures = shownCosignatures(best?.cosignatures ?? [])
      return {
        origin,
        leaf_index: String(leafIndex),
        leaf_hash: leafHash.toString('base64'),
        tree_size: String(checkpoint.size),
        inclusion_proof: path.map((hash) => hash.toString('base64')),
        checkpoint: checkpoint.note + cosignatures.map(({ line }) => line).join(''),
        witnesses: cosignatures.map(({ witness, at }) => ({ name: witness, cosigned_at: toRfc3339(at.getTime()) })),
        witness_keys: cosignatures.flatMap(({ vkey }) => vkey ?? []),
      }
    },
  }
}

/** Each holds the edge of the tree as it was, at least 16 kB however few its leaves: what is asked for later is read. */
const recentBatchesMax = 256
const recentLeavesMax = 20_000

/** Anyone who wrote an entry asks for its proof at once: it is made from what the batch already held. */
export function recentBatches({ batchesMax = recentBatchesMax, leavesMax = recentLeavesMax } = {}) {
  const placed = new Map<string, { batch: PlacedBatch; index: number }>()
  const batches: PlacedBatch[] = []
  return {
    find: (subject: string) => placed.get(subject),
    clear: () => {
      placed.clear()
      batches.length = 0
    },
    add: (batch: PlacedBatch) => {
      for (const [n, { subject }] of batch.leaves.entries()) placed.set(subject, { batch, index: batch.from + n })
      batches.push(batch)
      // The last one stays, however large: its own callers are about to ask.
      while (batches.length > 1 && (batches.length > batchesMax || placed.size > leavesMax)) {
        const oldest = batches.shift()
        for (const { subject } of oldest?.leaves ?? [])
          if (placed.get(subject)?.batch === oldest) placed.delete(subject)
      }
    },
  }
}

function proofIn(origin: string, { leaves, from, head, tiles }: PlacedBatch, index: number): LogProof {
  return {
    origin,
    leaf_index: String(index),
    leaf_hash: (leaves[index - from]?.leafHash ?? Buffer.alloc(0)).toString('base64'),
    tree_size: String(head.size),
    inclusion_proof: hashRanges(inclusionRanges(index, head.size), tiles).map((hash) => hash.toString('base64')),
    checkpoint: head.note,
    witnesses: [],
    witness_keys: [],
  }
}

const keyOf = (origin: string, x: string) => noteKey(origin, signatureTypes.ed25519, x)
const bears = (note: string, { name, keyId }: NoteKey) =>
  parseNote(note)?.signatures.some((one) => one.name === name && one.keyId === keyId) ?? false

/** No more than a verifier reads, those of configured witnesses first: anybody can be a hundred peers. */
const shownCosignatures = (all: readonly Cosignature[]) =>
  [...all].sort((a, b) => Number(a.peer) - Number(b.peer)).slice(0, witnessKeysMax)

/** Peers that nobody chose must not hide the signatures of those that were. */
const chosen = ({ cosignatures }: WitnessedCheckpoint) => cosignatures.filter(({ peer }) => !peer).length

/**
 * The head with the most configured witnesses, then the most peers, and of these the first: the earlier they signed, the sooner the entry is known to have
 * been there, which counts should a key be revoked later. A head that only a lost key signed counts while it was not lost.
 */
function chooseHead(
  heads: readonly WitnessedCheckpoint[],
  { keyring, origin }: Pick<IntegrateDeps, 'keyring' | 'origin'>,
): WitnessedCheckpoint | undefined {
  const revoked = keyring.keys().filter(({ revokedAtMs }) => revokedAtMs !== undefined)
  const sound = (head: WitnessedCheckpoint) =>
    revoked.length === 0 ||
    keyring.keys().some(({ x, revokedAtMs = Number.POSITIVE_INFINITY }) => {
      const firstSeen = Math.min(...head.cosignatures.map(({ at }) => at.getTime()))
      return firstSeen <= revokedAtMs && bears(head.note, keyOf(origin, x))
    })
  return heads
    .filter(sound)
    .sort((a, b) => chosen(b) - chosen(a) || b.cosignatures.length - a.cosignatures.length || a.size - b.size)
    .at(0)
}
