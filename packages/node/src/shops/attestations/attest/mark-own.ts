import type { OwnCitations } from '../../ports.ts'

/** Citations of a source by its owner, found out now. Paid they stay, as they were paid. */
export const markOwn: OwnCitations = async (tx, { domain, wallet, cluster }) => {
  await tx.query(
    `update attestation t set wash = array(select distinct w from unnest(t.wash || array[
       case when t.payer = $2 then 'payer_is_creator' when t.agent = $2 then 'agent_is_creator'
         else 'same_funding_cluster' end]) w order by w)
     where t.domain = $1 and t.wash = '{}' and t.id in (
       select id from attestation where agent = any($3)
       union select c.subject from creator_accrual c join source s on s.registrable = c.registrable
         where s.domain = $1 and c.state = 'waiting' and c.domain = $1 and c.payer = any($3))`,
    [domain, wallet, cluster],
  )
}
