import { emptyRoot, leafHash, nodeHash } from '../../packages/node/src/tlog/tree-hash.ts'
import { rangeHash, type Subtree } from '../../packages/protocol/src/log/merkle.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import { has } from './shops.ts'

type Leaf = { leaf_index: bigint; leaf_hash: Buffer; entry: Buffer }

/** I11, for stamps: leaves keep their places, and the root that was signed is the root of the leaves. */
export async function checkLog({ world, history }: Scene): Promise<void> {
  if (!has(world.seed, 'citations')) return
  const sql = world.db.owner
  const { rows: leaves } = await sql.query<Leaf>(
    'select leaf_index, leaf_hash, entry from log_entry where leaf_index is not null order by leaf_index',
  )
  const hashes = leaves.map(({ leaf_index, leaf_hash, entry }, place) => {
    if (leaf_index !== BigInt(place)) throw new Violation('I11', `the log has no leaf ${place}`)
    if (!leafHash(entry).equals(leaf_hash)) throw new Violation('I11', `leaf ${place} is not the hash of its entry`)
    return leaf_hash.toString('hex')
  })
  for (const [place, hash] of history.leaves.entries())
    if (hashes[place] !== hash) throw new Violation('I11', `leaf ${place} of the log is not what it was`)
  history.leaves = hashes
  const { rows: signed } = await sql.query<{ size: bigint; root: Buffer }>(
    'select size, root from log_checkpoint order by size desc limit 1',
  )
  const [checkpoint] = signed
  if (checkpoint && !rootOf(leaves, Number(checkpoint.size))?.equals(checkpoint.root))
    throw new Violation('I11', `the root that was signed at ${checkpoint.size} is not that of the leaves`)
}

/** From the leaves alone, not from the tiles that the node keeps. */
function rootOf(leaves: readonly Leaf[], size: number): Buffer | undefined {
  if (size > leaves.length) return undefined
  const hashOf = ({ level, index }: Subtree): Buffer =>
    level === 0
      ? (leaves[index] as Leaf).leaf_hash
      : nodeHash(hashOf({ level: level - 1, index: index * 2 }), hashOf({ level: level - 1, index: index * 2 + 1 }))
  return rangeHash({ from: 0, until: size }, hashOf, { nodeHash, emptyRoot })
}
