import type { Sql } from '@assay/till/store/database'

/** Whether the wallet in an SQL expression is registered on chain, as the shop of agents knows it. */
export type RegisteredSql = (wallet: string) => string

const microPerUnit = 1_000_000
const stakeWeightMax = 4

/** Weight that money and a name on chain give: a dollar at stake or paid here is one, and so is a registration. */
export function weightOf(micro: number, registered: boolean): number {
  return Math.min(stakeWeightMax, Math.log2(1 + micro / microPerUnit)) + (registered ? 1 : 0)
}

type Weighed = { did: string; operator: string | undefined; firstSeenAtMs: number | undefined; weight: number }

/** Each operator weighs once, for the peer that has been here longest: one bond does not carry a hundred names. */
export async function weighPeers<T extends Weighed>(
  sql: Sql,
  registered: RegisteredSql,
  peers: readonly T[],
): Promise<T[]> {
  const first = new Map<string, T>()
  const age = ({ firstSeenAtMs = Number.POSITIVE_INFINITY }: T) => firstSeenAtMs
  for (const peer of peers) {
    const known = peer.operator === undefined ? undefined : first.get(peer.operator)
    if (peer.operator !== undefined && (known === undefined || age(peer) < age(known))) first.set(peer.operator, peer)
  }
  const weights = await weighOperators(sql, registered, [...first.keys()])
  return peers.map((peer) => {
    const weight =
      peer.operator === undefined || first.get(peer.operator) !== peer ? 0 : (weights.get(peer.operator) ?? 0)
    return { ...peer, weight }
  })
}

async function weighOperators(
  sql: Sql,
  registered: RegisteredSql,
  wallets: readonly string[],
): Promise<Map<string, number>> {
  if (wallets.length === 0) return new Map()
  const { rows } = await sql.query<{ wallet: string; micro: string; registered: boolean }>(
    `select w.wallet, ${registered('w.wallet')} as registered,
       (coalesce((select sum(b.micro - b.slashed_micro) from agent_bond b
                  where b.wallet = w.wallet and b.state in ('locked', 'releasing')), 0)
        + coalesce((select sum(p.amount_micro) from payment p
                    where p.payer = w.wallet and p.ended_at is not null and p.state = 'served'
                      and p.final and p.payee = 'pay_to'), 0))::text as micro
     from unnest($1::text[]) as w(wallet)`,
    [wallets],
  )
  return new Map(rows.map((row) => [row.wallet, weightOf(Number(row.micro), row.registered)]))
}
