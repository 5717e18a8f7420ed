import { checkpointText } from '@assay/protocol/log/checkpoint'
import { noteKey, signatureTypes } from '@assay/protocol/log/signed-note'
import type { Clock } from '@assay/till/kernel/clock'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Keyring } from '@assay/till/signing'
import type { Database, Tx } from '@assay/till/store/database'
import { reasonNotToSign } from './reason-not-to-sign.ts'
import { noteLine } from './sign-note.ts'
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

export type IntegrateDeps = {
  database: Database
  clock: Clock
  metrics: Metrics
  /** Keys of the log. */
  keyring: Keyring
  origin: string
  /** Nothing is signed until a witness has answered since then. */
  confirmAfter?: Date | undefined
}

const batchMax = 8_192

/** Leaves that got their places together, the tree head over them, and the tiles their proofs are made of. */
export type PlacedBatch = {
  leaves: readonly Waiting[]
  /** Index of the first of them. */
  from: number
  head: StoredCheckpoint
  tiles: Tiles
}

/**
 * Assigns every committed entry its index, in one transaction for the whole batch, and signs the new tree head. Nothing
 * while the log is stopped: entries keep waiting. What is committed before `onRead` is called is in the batch.
 */
export async function integrateBatch(
  deps: IntegrateDeps,
  onRead: () => void = () => {},
): Promise<PlacedBatch | undefined> {
  return deps.database.transaction(async (tx) => {
    const tree = await lockTree(tx)
    if (reasonNotToSign(tree, deps.origin, deps.confirmAfter)) return undefined
    const { size } = tree
    onRead()
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
  const head = { size, root, note: signHead(deps, size, root), signedAt: new Date(deps.clock.nowMs()) }
  await writeCheckpoint(tx, head)
  return head
}

/**
 * By every key of the log that is in force: during a rotation, verifiers that know only the old key can still check.
 */
export function signHead(
  { keyring, origin }: Pick<IntegrateDeps, 'keyring' | 'origin'>,
  size: number,
  root: Buffer,
): string {
  const text = checkpointText({ origin, size, root })
  const keys = keyring.signers()
  if (keys.length === 0) throw new Error('this process holds no key of the log that is in force')
  const lines = keys.map((key) => noteLine(text, noteKey(origin, signatureTypes.ed25519, key.x), key.sign))
  return `${text}\n${lines.join('')}`
}

/**
 * Group commit for places: calls that come before a batch has read which entries wait share it, later ones the next. So
 * anyone who calls after its own commit finds its entry placed.
 */
export function createIntegrator(
  deps: IntegrateDeps,
  onPlaced: (batch: PlacedBatch) => void = () => {},
): () => Promise<void> {
  let shared: Promise<void> | undefined
  let last: Promise<void> = Promise.resolve()
  const run = async (onRead: () => void) => {
    for (let placed = batchMax; placed === batchMax; ) {
      const batch = await integrateBatch(deps, onRead)
      placed = batch?.leaves.length ?? 0
      if (!batch) break
      deps.metrics.count('log_leaves', {}, placed)
      onPlaced(batch)
    }
  }
  return () => {
    if (shared) return shared
    const close = () => {
      if (shared === mine) shared = undefined
    }
    const mine = last.then(() => run(close))
    last = mine.then(close, close)
    shared = mine
    return mine
  }
}
