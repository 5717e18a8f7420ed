import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'
import type { MeshNodes } from '../ports.ts'

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
}

export const emptyPorts: IdentityPorts = {
  meshNodes: { find: async () => undefined },
  mandates: { openSql: () => 'select where false', show: () => [] },
  fundingClusters: async () => new Map(),
}
