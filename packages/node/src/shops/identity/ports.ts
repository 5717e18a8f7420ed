import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import type { MeshNodes, SaleShares } from '../ports.ts'

/** What other shops know of a wallet, given at composition so that none of them is needed. */
export type IdentityPorts = {
  meshNodes: MeshNodes
  /** Open payment authorizations of a wallet: how to ask for them among other things, and how to show what was found. */
  mandates: {
    openSql(wallet: string, now: string): string
    show(rows: readonly unknown[], nowMs: number): readonly unknown[]
  }
  /** Wallets funded by one party share a cluster; a wallet never seen is its own. */
  fundingClusters(sql: Sql, wallets: readonly Address[]): Promise<ReadonlyMap<Address, string>>
  /** What other shops know of a sale or a wallet, as SQL over their tables; each works without them. */
  evidence: EvidenceSql
}

export type EvidenceSql = SaleShares & {
  referrersSql(id: string): string
  disputesSql(wallet: string): string
}

export const noEvidence: EvidenceSql = {
  creatorsSql: () => 'null::text[]',
  washTradedSql: () => 'null::boolean',
  referrersSql: () => `'{}'::text[]`,
  disputesSql: () => '0',
}

export const emptyPorts: IdentityPorts = {
  meshNodes: { find: async () => undefined },
  mandates: { openSql: () => 'select where false', show: () => [] },
  fundingClusters: async () => new Map(),
  evidence: noEvidence,
}
