import type { BlockRef } from '@assay/till/chain'
import type { CreatorChain, CreatorDeps } from './deps.ts'

/** Roots whose delay is over at a final block: what they allot can be claimed from now on. */
export async function openRoots({ database }: CreatorDeps, place: CreatorChain, final: BlockRef): Promise<void> {
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: bigint }>(
      `update creator_root set opened = true where network = $1 and contract = $2 and state = 'committed' and not opened
         and opens_at <= $3 returning id`,
      [place.network.caip2, place.contract, new Date(final.timestamp * 1000)],
    )
    if (rows.length === 0) return
    await tx.query(
      `update creator_balance b set opened_micro = b.opened_micro + l.micro
       from (select network, wallet, sum(micro)::bigint as micro from creator_leaf where root_id = any($1::bigint[])
         group by network, wallet) l where b.network = l.network and b.wallet = l.wallet`,
      [rows.map(({ id }) => id)],
    )
  })
}
