import type { Address } from '@assay/protocol/address'
import type { FundingDeps } from './deps.ts'

export type FundingEdge = { wallet: Address; funder: Address; hop: number }

/** Of what a wallet received: anyone who gave this much is one of those it lives on. */
const materialShare = 4

/** Who lives on whose money, without those who fund the public or were not looked at yet. */
export async function materialFunders({
  database,
  chain,
  publicFunders,
}: Pick<FundingDeps, 'database' | 'chain' | 'publicFunders'>): Promise<FundingEdge[]> {
  const { rows } = await database.query<FundingEdge>(
    `select e.wallet, e.funder, w.hop::int as hop from funding_edge e
     join funding_wallet w on w.network = e.network and w.wallet = e.wallet
     left join funding_hub h on h.network = e.network and h.funder = e.funder
     where e.network = $1 and e.micro * $2 >= w.received_micro and not coalesce(h.hub, true) and not e.funder = any($3)
     order by e.wallet, e.funder`,
    [chain.network.caip2, materialShare, [...publicFunders]],
  )
  return rows
}
