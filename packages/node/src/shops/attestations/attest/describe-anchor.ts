import type { Sql } from '@assay/till/store/database'
import type { LogProof, TransparencyLog } from '../../../tlog/index.ts'

/** A tree head on chain that holds the entry, and the proof that the head in the file only grew from it. */
export type AnchorView = {
  network: string
  contract: string
  transaction: string | null
  size: string
  root: string
  consistency_proof: string[]
}

/** The newest head on chain between the entry and the head of its proof; undefined while there is none. */
export async function describeAnchor(
  { tree, database }: { tree: Pick<TransparencyLog, 'consistency'>; database: Sql },
  proof: LogProof,
): Promise<AnchorView | undefined> {
  const { rows } = await database.query<{
    network: string
    contract: string
    transaction: string | null
    size: bigint
    root: Buffer
  }>({
    name: 'log_anchor_over',
    text: `select network, contract, transaction, size, root from log_anchor
      where state = 'anchored' and size > $1 and size <= $2 order by size desc limit 1`,
    values: [proof.leaf_index, proof.tree_size],
  })
  const [row] = rows
  if (!row) return undefined
  const hashes = await tree.consistency(Number(row.size), Number(proof.tree_size))
  return {
    network: row.network,
    contract: row.contract,
    transaction: row.transaction,
    size: String(row.size),
    root: `0x${row.root.toString('hex')}`,
    consistency_proof: hashes.map((hash) => hash.toString('base64')),
  }
}
