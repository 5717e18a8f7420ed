import type { Micro } from '@assay/till/kernel/money'
import type { Sql } from '@assay/till/store/database'
import { type PayoutLeaf, type PayoutPlace, type PayoutTree, payoutTree } from './payout-tree.ts'

type Current = { id: bigint; landed: boolean }

const trees = new WeakMap<Sql, Map<string, { rootId: bigint; tree: PayoutTree }>>()

/**
 * The tree of the root that the contract has now: the one on its way once a block holds it, for the contract takes no
 * proof of an older one, and on a busy chain there is always one that is not final yet. Made once for each root, because
 * anybody may ask for a proof.
 */
export async function claimTree(
  sql: Sql,
  network: string,
  place: PayoutPlace,
): Promise<{ tree: PayoutTree; landed: boolean }> {
  const current = await readCurrent(sql, network)
  const known = trees.get(sql)?.get(network)
  if (known?.rootId === current.id) return { tree: known.tree, landed: current.landed }
  const tree = await makeTree(sql, network, place, current.landed)
  // A root that came in between would be kept under the name of another.
  if ((await readCurrent(sql, network)).id === current.id) {
    const own = trees.get(sql) ?? new Map()
    own.set(network, { rootId: current.id, tree })
    trees.set(sql, own)
  }
  return { tree, landed: current.landed }
}

/** In SQL: the root that the contract has, as far as we have seen. */
export const currentRootSql = (
  network: string,
) => `select r.id, r.epoch, r.root, r.state = 'signed' as landed, r.transaction
  from creator_root r where r.network = ${network} and (r.state = 'committed' or (r.state = 'signed' and r.landed))
  order by r.id desc limit 1`

async function readCurrent(sql: Sql, network: string): Promise<Current> {
  const { rows } = await sql.query<Current>(currentRootSql('$1'), [network])
  return rows[0] ?? { id: 0n, landed: false }
}

/** Where a creator's sum in the root that the contract has stands. */
export const cumulativeSql = (landed: string) => `case when ${landed} then b.pending_micro else b.committed_micro end`

async function makeTree(sql: Sql, network: string, place: PayoutPlace, landed: boolean): Promise<PayoutTree> {
  const { rows } = await sql.query<{ wallet: PayoutLeaf['wallet']; cumulativeMicro: Micro }>(
    `select * from (select b.wallet, ${cumulativeSql('$2')} as "cumulativeMicro" from creator_balance b where b.network = $1) l
     where l."cumulativeMicro" > 0`,
    [network, landed],
  )
  return payoutTree(place, rows)
}
