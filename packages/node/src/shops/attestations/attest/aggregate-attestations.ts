import type { Database } from '@assay/till/store/database'
import { aggregateCitations, type SourceDeps } from '../../sources/index.ts'

const atOnce = 1_000

type Row = {
  id: string
  agent: string
  domain: string
  kind: string
  wash: string[]
  quote_found: boolean | null
  registered: boolean
}

/**
 * Takes citations whose money is final into the books of trust and usage. Each is marked before it is counted: one that
 * is lost in a crash weighs nothing, one that is counted twice would be worth repeating.
 */
export async function aggregateAttestations(deps: Pick<SourceDeps, 'database' | 'clock' | 'jws'>): Promise<number> {
  const taken = await takeNew(deps.database, new Date(deps.clock.nowMs()))
  const known = taken.filter(({ kind, registered }) => kind === 'citation' && registered)
  if (known.length === 0) return taken.length
  await countUsage(deps.database, known)
  const honest = known.filter(({ wash }) => wash.length === 0)
  if (honest.length > 0)
    await aggregateCitations(
      deps,
      honest.map(({ agent, domain, quote_found }) => ({ agent, source: domain, quoted: quote_found === true })),
    )
  return taken.length
}

async function takeNew(database: Database, now: Date): Promise<Row[]> {
  const { rows } = await database.query<Row>(
    `with due as (
       select a.id, coalesce((select c.domain from creator_accrual c where c.subject = a.id and c.place = 0 and c.round = 0),
         a.domain) as domain from attestation a
       where a.aggregated_at is null and a.checked_at is not null
         and coalesce((select p.final and p.state = 'served' from payment p where p.id = a.payment_id), true)
       order by a.created_at limit $2)
     update attestation a set aggregated_at = $1 from due
     where a.id = due.id and a.aggregated_at is null
     returning a.id, a.agent, due.domain, a.kind, a.wash, a.quote_found,
       exists (select from source s where s.domain = due.domain) as registered`,
    [now, atOnce],
  )
  return rows
}

/** A wash-traded citation keeps what it earned and does not count. */
async function countUsage(database: Database, rows: readonly Row[]): Promise<void> {
  await database.query(
    `insert into source_usage as u (domain, citations, earned_micro)
     select t.domain, count(*) filter (where t.honest), coalesce(sum(c.micro), 0)
     from unnest($1::text[], $2::text[], $3::boolean[]) t (id, domain, honest)
     left join creator_accrual c on c.subject = t.id and c.place = 0 and c.round = 0
     group by t.domain
     on conflict (domain) do update set citations = u.citations + excluded.citations,
       earned_micro = u.earned_micro + excluded.earned_micro`,
    [rows.map(({ id }) => id), rows.map(({ domain }) => domain), rows.map(({ wash }) => wash.length === 0)],
  )
}
