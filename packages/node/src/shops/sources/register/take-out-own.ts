import type { Tx } from '@assay/till/store/database'
import type { SourceDeps } from '../deps.ts'
import { cutCitations } from '../score/fold-citations.ts'

/**
 * Whoever is found to own a source may have cited it before anybody knew: those citations stop counting now, not when
 * funders are next read from the chain. Paid they stay, as they were paid.
 */
export async function takeOutOwn(
  deps: Pick<SourceDeps, 'clock' | 'jws'>,
  tx: Tx,
  domain: string,
  wallet: string,
): Promise<void> {
  const { rows } = await tx.query<{ agent: string; cluster: string }>(
    `select m.agent, m.cluster from citing_agent a join citing_agent m on m.cluster = a.cluster where a.agent = $1`,
    [wallet],
  )
  const purse = [...new Set([wallet, ...rows.flatMap(({ agent, cluster }) => [agent, cluster])])]
  await tx.query(
    `update attestation t set wash = array(select distinct w from unnest(t.wash || array[
       case when t.payer = $2 then 'payer_is_creator' when t.agent = $2 then 'agent_is_creator'
         else 'same_funding_cluster' end]) w order by w)
     where t.domain = $1 and t.wash = '{}' and t.id in (
       select id from attestation where agent = any($3)
       union select c.subject from creator_accrual c join source s on s.registrable = c.registrable
         where s.domain = $1 and c.state = 'waiting' and c.domain = $1 and c.payer = any($3))`,
    [domain, wallet, purse],
  )
  await cutCitations(deps, tx, domain, purse)
}
