import type { Address } from '@assay/till/kernel/address'
import type { Sql } from '@assay/till/store/database'

/** A node of the mesh as far as its DID document needs it. */
export type MeshNodeView = {
  did: string
  /** Its base address. */
  url: string
  /** Ed25519 keys that may sign for it now: thumbprint and base64url `x`. */
  keys: readonly { keyId: string; x: string }[]
  seenAtMs: number
}

/** Filled by the mesh; without one only this node's own did:web is known. */
export type MeshNodes = { find(sql: Sql, did: string, nowMs: number): Promise<MeshNodeView | undefined> }

/** What other shops know of a wallet, given at composition so that none of them is needed. */
export type IdentityPorts = {
  meshNodes: MeshNodes
  /** Open payment authorizations of a wallet: how to ask for them among other things, and how to show what was found. */
  mandates: {
    openSql(wallet: string, now: string): string
    show(rows: readonly unknown[], nowMs: number): readonly unknown[]
  }
  /** Wallets with one purse share a cluster; a wallet never seen is its own. */
  fundingClusters(sql: Sql, wallets: readonly Address[]): Promise<ReadonlyMap<Address, string>>
}

export const emptyPorts: IdentityPorts = {
  meshNodes: { find: async () => undefined },
  mandates: { openSql: () => 'select where false', show: () => [] },
  fundingClusters: async () => new Map(),
}
