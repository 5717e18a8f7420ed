import type { Tx } from '@assay/till/store/database'
import type { SourceDeps } from '../deps.ts'
import { cutCitations } from '../score/aggregate-citations.ts'

/**
 * Anyone who is found to own a source may have cited it before anybody knew: those citations stop counting now, not when
 * funders are next read from the chain. Paid they stay, as they were paid.
 */
export async function removeOwnCitations(
  deps: Pick<SourceDeps, 'clock' | 'jws' | 'markOwn'>,
  tx: Tx,
  domain: string,
  wallet: string,
): Promise<void> {
  const { rows } = await tx.query<{ agent: string; cluster: string }>(
    `select m.agent, m.cluster from citing_agent a join citing_agent m on m.cluster = a.cluster where a.agent = $1`,
    [wallet],
  )
  const cluster = [...new Set([wallet, ...rows.flatMap(({ agent, cluster }) => [agent, cluster])])]
  await deps.markOwn?.(tx, { domain, wallet, cluster })
  await cutCitations(deps, tx, domain, cluster)
}
