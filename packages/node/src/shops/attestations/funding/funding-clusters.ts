import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'

/** The cluster behind each wallet, by the name of the wallet that stands for it. One never seen is its own. */
export async function fundingClusters(sql: Sql, wallets: readonly Address[]): Promise<Map<Address, string>> {
  const clusters = new Map<Address, string>(wallets.map((wallet) => [wallet, wallet]))
  const { rows } = await sql.query<{ agent: Address; cluster: string }>({
    name: 'funding_clusters',
    text: 'select agent, cluster from citing_agent where agent = any($1)',
    values: [[...clusters.keys()]],
  })
  for (const { agent, cluster } of rows) clusters.set(agent, cluster)
  return clusters
}
