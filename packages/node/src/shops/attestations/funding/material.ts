import type { FundingDeps } from './deps.ts'
import type { FundingShare } from './trace-funding.ts'

export type FundingView = {
  /** Wallets that cite, pay or are paid. */
  parties: readonly string[]
  shares: readonly (FundingShare & { firstBlock: bigint })[]
}

/**
 * Who lives on whose money, without those who fund the public or were not checked yet. What a wallet has at stake it
 * had before, so that a stranger who sends it a little does not become its main funder.
 */
export async function readFundingView({
  database,
  chain,
  publicFunders,
}: Pick<FundingDeps, 'database' | 'chain' | 'publicFunders'>): Promise<FundingView> {
  const network = chain.network.caip2
  const { rows: parties } = await database.query<{ wallet: string }>(
    'select wallet from funding_wallet where network = $1 and hop = 0 order by wallet',
    [network],
  )
  const { rows: shares } = await database.query<{ wallet: string; funder: string; share: number; firstBlock: bigint }>(
    `select e.wallet, e.funder, e.first_block as "firstBlock", (e.micro / greatest(w.received_micro,
       a.bond_micro + a.independent_spend_micro))::float8 as share
     from funding_edge e
     join funding_wallet w on w.network = e.network and w.wallet = e.wallet
     join funding_hub h on h.network = e.network and h.funder = e.funder and not h.hub
     left join citing_agent a on a.agent = e.wallet
     where e.network = $1 and not e.funder = any($2) order by e.wallet, e.funder`,
    [network, [...publicFunders]],
  )
  return { parties: parties.map(({ wallet }) => wallet), shares }
}
