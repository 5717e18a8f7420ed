import type { Sql, Tx } from '@assay/till/store/database'
import type { ReadBonds } from '../deps.ts'
import { agentWeight } from './agent-weight.ts'

type ClusterRow = {
  cluster: string
  seed: boolean
  bond: bigint
  spend: bigint
  first_seen_at: Date
  bond_age_seconds: number | null
}

/**
 * The voice of every funding cluster from what it holds now: seed list, bond, age times spending. Only money that went to
 * the operator's own cluster counts as spent: what goes to creators could come back to the spender.
 */
export async function refreshWeights(tx: Tx, now: Date, bonds?: ReadBonds): Promise<number> {
  if (bonds) await takeBonds(tx, now, bonds)
  await tx.query(
    `update citing_agent a set independent_spend_micro = s.total
     from (select payer, sum(amount_micro)::bigint as total from payment
       where payee = 'pay_to' and state = 'served' and final group by payer) s
     where s.payer = a.agent and a.independent_spend_micro <> s.total`,
  )
  const { rows } = await tx.query<ClusterRow>(
    `select cluster, bool_or(seed) as seed, sum(bond_micro)::bigint as bond, sum(independent_spend_micro)::bigint as spend,
       min(first_seen_at) as first_seen_at,
       (sum(bond_micro * extract(epoch from $1 - coalesce(bonded_at, first_seen_at))) / nullif(sum(bond_micro), 0))::float8 as bond_age_seconds
     from citing_agent group by cluster
     having bool_or(seed) or sum(bond_micro) > 0 or sum(independent_spend_micro) > 0 or bool_or(weight > 0)`,
    [now],
  )
  const weights = rows.map((row) =>
    agentWeight({
      seed: row.seed,
      clusterBondMicro: row.bond,
      bondAgeMs: Math.max(0, 1_000 * (row.bond_age_seconds ?? 0)),
      ageMs: Math.max(0, now.getTime() - row.first_seen_at.getTime()),
      independentSpendMicro: row.spend,
    }),
  )
  // The rows of a cluster are held by the agent that stands for it; the others have no vote.
  const { rowCount } = await tx.query(
    `update citing_agent a set weight = case when a.agent = a.cluster then t.weight else 0 end
     from unnest($1::text[], $2::double precision[]) as t(cluster, weight)
     where a.cluster = t.cluster and a.weight is distinct from case when a.agent = a.cluster then t.weight else 0 end`,
    [rows.map((row) => row.cluster), weights],
  )
  return rowCount
}

/** Writes down what is at stake now, also for wallets that have not cited yet. Returns how many differ from before. */
export async function takeBonds(sql: Sql, now: Date, bonds: ReadBonds): Promise<number> {
  const held = [...(await bonds(sql, 'all', now.getTime()))].filter(([, { micro }]) => micro > 0n)
  const given = [held.map(([wallet]) => wallet), held.map(([, { micro }]) => micro)]
  const gone = await sql.query(
    'update citing_agent set bond_micro = 0, bonded_at = null where bond_micro > 0 and not agent = any($1)',
    [given[0]],
  )
  const changed = await sql.query(
    `insert into citing_agent (agent, cluster, bond_micro, bonded_at, first_seen_at)
     select t.agent, t.agent, t.micro, $3, $3 from unnest($1::text[], $2::bigint[]) t (agent, micro)
     on conflict (agent) do update set bond_micro = excluded.bond_micro, bonded_at = case
       when citing_agent.bond_micro = 0 then excluded.bonded_at
       -- Ages are averaged by amount: adding to an old bond does not make the new money old.
       else excluded.bonded_at - (excluded.bonded_at - coalesce(citing_agent.bonded_at, citing_agent.first_seen_at))
         * least(1, citing_agent.bond_micro::float8 / excluded.bond_micro) end
     where citing_agent.bond_micro <> excluded.bond_micro`,
    [...given, now],
  )
  return gone.rowCount + changed.rowCount
}
