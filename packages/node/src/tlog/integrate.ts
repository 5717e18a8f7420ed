import type { Clock } from '@assay/till/kernel/clock'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Keyring } from '@assay/till/signing'
import type { Database, Tx } from '@assay/till/store/database'
import { checkpointText } from './checkpoint.ts'
import { noteKey, signatureTypes, signNote } from './signed-note.ts'
import {
  lockTree,
  placeLeaves,
  readTiles,
  readWaiting,
  type StoredCheckpoint,
  type Waiting,
  writeCheckpoint,
  writeTiles,
} from './store.ts'
import { edgeTiles, growTiles, hashRanges, type Tiles, tileKey } from './tiles.ts'

export type IntegrateDeps = { database: Database; clock: Clock; metrics: Metrics; keyring: Keyring; origin: string }

const batchMax = 8_192

/** Leaves that got their places together, the tree head over them, and the tiles their proofs are made of. */
export type PlacedBatch = {
  leaves: readonly Waiting[]
  /** Index of the first of them. */
  from: number
  head: StoredCheckpoint
  tiles: Tiles
}

/** Gives every committed entry its place, in one transaction for the whole batch, and signs the new tree head. */
export async function integrateBatch(deps: IntegrateDeps): Promise<PlacedBatch | undefined> {
  return deps.database.transaction(async (tx) => {
    const size = await lockTree(tx)
    const waiting = await readWaiting(tx, batchMax)
    if (waiting.length === 0) return undefined
    const edge = await readTiles(tx, edgeTiles(size))
    const changed = growTiles(
      size,
      edge,
      waiting.map(({ leafHash }) => leafHash),
    )
    await writeTiles(tx, changed)
    await placeLeaves(
      tx,
      waiting.map(({ id }) => id),
      size,
    )
    const tiles = new Map(edge)
    for (const tile of changed) tiles.set(tileKey(tile), tile.hashes)
    return { leaves: waiting, from: size, head: await signTreeHead(deps, tx, size + waiting.length, tiles), tiles }
  })
}

async function signTreeHead(deps: IntegrateDeps, tx: Tx, size: number, tiles: Tiles): Promise<StoredCheckpoint> {
  const [root] = hashRanges([{ from: 0, until: size }], tiles) as [Buffer]
  const key = deps.keyring.active()
  const text = checkpointText({ origin: deps.origin, size, root })
  const note = signNote(
    text,
    noteKey(deps.origin, signatureTypes.ed25519, Buffer.from(key.x, 'base64url')),
    key.privateKey,
  )
  const head = { size, root, note, signedAt: new Date(deps.clock.nowMs()) }
  await writeCheckpoint(tx, head)
  return head
}

/**
 * Group commit for places: calls that come while a batch is under way share the next one. Whoever waits for it after
 * its own commit finds its entry placed, for a batch begun later sees every entry committed before.
 */
export function createIntegrator(
  deps: IntegrateDeps,
  onPlaced: (batch: PlacedBatch) => void = () => {},
): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = async () => {
    for (let placed = batchMax; placed === batchMax; ) {
      const batch = await integrateBatch(deps)
      placed = batch?.leaves.length ?? 0
      if (!batch) break
      deps.metrics.count('log_leaves', {}, placed)
      onPlaced(batch)
    }
  }
  const start = (): Promise<void> => {
    running = run().finally(() => {
      running = undefined
    })
    return running
  }
  return () => {
    if (!running) return start()
    next ??= running.then(noop, noop).then(() => {
      next = undefined
      return running ?? start()
    })
    return next
  }
}

const noop = () => {}
