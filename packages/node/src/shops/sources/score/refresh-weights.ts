import type { Sql, Tx } from '@assay/till/store/database'
import type { ReadBonds } from '../deps.ts'
import { weighAgents } from './agent-weight.ts'

type Row = {
  agent: string
  cluster: string
  seed: boolean
  bond: bigint
  spend: bigint
  first_seen_at: Date
  bond_age_seconds: number
}

/** Where no shop keeps sums per wallet they are computed from all payments. */
const paymentsSql = `select payer as wallet, sum(amount_micro)::bigint as total from payment
  where payee = 'pay_to' and state = 'served' and final group by payer`

/**
 * The weight of every wallet from what it holds now: seed list, bond, age times spending. A funding cluster has one weight,
 * shared out by what each wallet has at stake itself: being joined to somebody gives nobody weight. Only money that went
 * to the operator counts as spent: what goes to creators could come back to the spender.
 */
export async function refreshWeights(
  tx: Tx,
  now: Date,
  bonds?: ReadBonds,
  spendingSql?: (wallet: string) => string,
): Promise<number> {
  if (bonds) await takeBonds(tx, now, bonds)
  await tx.query(
    `update citing_agent a set independent_spend_micro = s.total
     from (${spendingSql ? `select agent as wallet, ${spendingSql('agent')} as total from citing_agent` : paymentsSql}) s
     where s.wallet = a.agent and a.independent_spend_micro <> s.total`,
  )
  const { rows } = await tx.query<Row>(
    `select agent, cluster, seed, bond_micro as bond, independent_spend_micro as spend, first_seen_at,
       extract(epoch from $1 - coalesce(bonded_at, first_seen_at))::float8 as bond_age_seconds
     from citing_agent where seed or bond_micro > 0 or independent_spend_micro > 0 or weight > 0`,
    [now],
  )
  const weights = weighAgents(
    rows.map(({ cluster, seed, bond, spend, first_seen_at, bond_age_seconds }) => ({
      cluster,
      seed,
      bondMicro: bond,
      spendMicro: spend,
      ageMs: Math.max(0, now.getTime() - first_seen_at.getTime()),
      bondAgeMs: Math.max(0, 1_000 * bond_age_seconds),
    })),
  )
  const { rowCount } = await tx.query(
    `update citing_agent a set weight = t.weight from unnest($1::text[], $2::double precision[]) as t(agent, weight)
     where a.agent = t.agent and a.weight is distinct from t.weight`,
    [rows.map(({ agent }) => agent), weights],
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
