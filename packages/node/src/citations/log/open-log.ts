import { toRfc3339 } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'
import { createIntegrator, type IntegrateDeps, type PlacedBatch } from './integrate.ts'
import { consistencyRanges, inclusionRanges, type Range } from './merkle.ts'
import { noteKey, signatureTypes } from './signed-note.ts'
import {
  bestCheckpointOver,
  cosignaturesOf,
  findEntry,
  firstCheckpointOver,
  newestCheckpoint,
  readTiles,
  type StoredCheckpoint,
} from './store.ts'
import { hashRanges, tileKey, tilesFor, tileWidth } from './tiles.ts'

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

const cachedTilesMax = 2_048

export function openLog(deps: IntegrateDeps): TransparencyLog {
  const { database, origin, keyring } = deps
  const hashesOf = cachedHashes(database)
  const recent = recentBatches()
  const withCosignatures = async (checkpoint: StoredCheckpoint) =>
    checkpoint.note + (await cosignaturesOf(database, checkpoint.size)).map(({ line }) => line).join('')
  return {
    origin,
    integrate: createIntegrator(deps, recent.add),
    consistency: (oldSize, size) => hashesOf(consistencyRanges(oldSize, size)),
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
      const entry = await findEntry(database, subject)
      if (entry?.leafIndex === undefined) return undefined
      const find = which === 'first' ? firstCheckpointOver : bestCheckpointOver
      const checkpoint = await find(database, entry.leafIndex)
      if (!checkpoint) return undefined
      const [path, cosignatures] = await Promise.all([
        hashesOf(inclusionRanges(entry.leafIndex, checkpoint.size)),
        which === 'first' ? [] : cosignaturesOf(database, checkpoint.size),
      ])
      return {
        origin,
        leaf_index: String(entry.leafIndex),
        leaf_hash: entry.leafHash.toString('base64'),
        tree_size: String(checkpoint.size),
        inclusion_proof: path.map((hash) => hash.toString('base64')),
        checkpoint: checkpoint.note + cosignatures.map(({ line }) => line).join(''),
        witnesses: cosignatures.map(({ witness, at }) => ({ name: witness, cosigned_at: toRfc3339(at.getTime()) })),
      }
    },
  }
}

const recentLeavesMax = 20_000

/** Whoever wrote an entry asks for its proof at once: it is made from what the batch already held. */
function recentBatches() {
  const placed = new Map<string, { batch: PlacedBatch; index: number }>()
  return {
    find: (subject: string) => placed.get(subject),
    add: (batch: PlacedBatch) => {
      for (const [n, { subject }] of batch.leaves.entries()) placed.set(subject, { batch, index: batch.from + n })
      for (const subject of placed.keys()) {
        if (placed.size <= recentLeavesMax) break
        placed.delete(subject)
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

/** Full tiles never change, so they are kept; the edge is read each time. */
function cachedHashes(sql: Sql): (ranges: readonly Range[]) => Promise<Buffer[]> {
  const full = new Map<string, Buffer>()
  return async (ranges) => {
    const ids = tilesFor(ranges)
    const tiles = new Map<string, Buffer>()
    for (const id of ids) {
      const known = full.get(tileKey(id))
      if (known) tiles.set(tileKey(id), known)
    }
    for (const [key, hashes] of await readTiles(
      sql,
      ids.filter((id) => !tiles.has(tileKey(id))),
    )) {
      tiles.set(key, hashes)
      if (hashes.length < tileWidth * 32) continue
      if (full.size >= cachedTilesMax) full.delete(full.keys().next().value as string)
      full.set(key, hashes)
    }
    return hashRanges(ranges, tiles)
  }
}
