import { toRfc3339 } from '@assay/till/kernel/clock'
import { createIntegrator, type IntegrateDeps, type PlacedBatch } from './integrate.ts'
import { consistencyRanges, inclusionRanges } from './merkle.ts'
import { noteKey, signatureTypes } from './signed-note.ts'
import {
  cosignaturesOf,
  findPlace,
  firstCheckpointOver,
  newestCheckpoint,
  type StoredCheckpoint,
  type WitnessedCheckpoint,
  witnessedCheckpoint,
} from './store.ts'
import { createTileCache } from './tile-cache.ts'
import { hashRanges } from './tiles.ts'

/** Everything needed to check, without asking anybody, that an entry is in the log. */
export type LogProof = {
  origin: string
  leaf_index: string
  leaf_hash: string
  tree_size: string
  inclusion_proof: string[]
  checkpoint: string
  witnesses: { name: string; cosigned_at: string }[]
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
  /** Keys that sign tree heads, the newest last. */
  keys(): string[]
}

export function openLog(deps: IntegrateDeps): TransparencyLog {
  const { database, origin, keyring } = deps
  const { hashesOf, add: keepTiles } = createTileCache(database)
  const witnessed = recentlyWitnessed(deps)
  const recent = recentBatches()
  const withCosignatures = async (checkpoint: StoredCheckpoint) =>
    checkpoint.note + (await cosignaturesOf(database, checkpoint.size)).map(({ line }) => line).join('')
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
    keys: () =>
      keyring
        .keys()
        .filter(({ revokedAtMs }) => revokedAtMs === undefined)
        .map(({ x }) => noteKey(origin, signatureTypes.ed25519, Buffer.from(x, 'base64url')).vkey),
    proofOf: async (subject, which) => {
      const placed = which === 'first' ? recent.find(subject) : undefined
      if (placed) return proofIn(origin, placed.batch, placed.index)
      const place = await findPlace(database, subject)
      if (!place) return undefined
      const { leafIndex, leafHash } = place
      const best = which === 'first' ? undefined : await witnessed(leafIndex)
      const checkpoint = best ?? (await firstCheckpointOver(database, leafIndex))
      if (!checkpoint) return undefined
      const path = await hashesOf(inclusionRanges(leafIndex, checkpoint.size), checkpoint.size)
      const cosignatures = best?.cosignatures ?? []
      return {
        origin,
        leaf_index: String(leafIndex),
        leaf_hash: leafHash.toString('base64'),
        tree_size: String(checkpoint.size),
        inclusion_proof: path.map((hash) => hash.toString('base64')),
        checkpoint: checkpoint.note + cosignatures.map(({ line }) => line).join(''),
        witnesses: cosignatures.map(({ witness, at }) => ({ name: witness, cosigned_at: toRfc3339(at.getTime()) })),
      }
    },
  }
}

/** Each holds the edge of the tree as it was, at least 16 kB however few its leaves: what is asked for later is read. */
const recentBatchesMax = 256
const recentLeavesMax = 20_000

/** Whoever wrote an entry asks for its proof at once: it is made from what the batch already held. */
export function recentBatches({ batchesMax = recentBatchesMax, leavesMax = recentLeavesMax } = {}) {
  const placed = new Map<string, { batch: PlacedBatch; index: number }>()
  const batches: PlacedBatch[] = []
  return {
    find: (subject: string) => placed.get(subject),
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
  }
}

const witnessedMs = 1_000

/** The tree head that proofs are given for. It covers nearly every leaf, so it is not read anew for each of them. */
function recentlyWitnessed({ database, clock }: Pick<IntegrateDeps, 'database' | 'clock'>) {
  let known: { head: WitnessedCheckpoint | undefined; readAtMs: number } | undefined
  return async (leafIndex: number): Promise<WitnessedCheckpoint | undefined> => {
    if (!known || clock.monotonicMs() - known.readAtMs >= witnessedMs)
      known = { head: await witnessedCheckpoint(database, -1), readAtMs: clock.monotonicMs() }
    if (known.head && known.head.size > leafIndex) return known.head
    return witnessedCheckpoint(database, leafIndex)
  }
}
