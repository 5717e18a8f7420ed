import type { NodeAddress } from '@assay/protocol/mesh/node-address'
import type { MeshOffer } from '@assay/protocol/mesh/read-statement'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Rng } from '@assay/till/kernel/random'
import type { ClaimNonce } from '@assay/till/proofs'
import type { Keyring, ResponseSigner } from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import type { RelatedParties } from '../ports.ts'
import type { Announcements } from '../shop.ts'
import type { DnsSeeds } from './dns-seeds.ts'
import type { PeerFetcher } from './peer-fetcher.ts'
import type { MeshSettings } from './settings.ts'
import type { RegisteredSql } from './weigh-peers.ts'

export type MeshDeps = {
  database: Database
  clock: Clock
  rng: Rng
  log: Log
  metrics: Metrics
  keyring: Keyring
  signer: ResponseSigner
  claimNonce: ClaimNonce
  fetcher: PeerFetcher
  settings: MeshSettings
  /** MESH_PEERS. */
  seeds: readonly NodeAddress[]
  dnsSeeds: DnsSeeds
  self: NodeAddress & { baseUrl: string; name: string; networks: readonly { network: string; asset: string }[] }
  /** What this node offers; complete once all shops are open. */
  offers(): readonly MeshOffer[]
  /** Whether a wallet is registered on chain, as SQL. */
  registeredSql: RegisteredSql
  /** Which wallets belong together, as far as this node knows. */
  relatedParties: RelatedParties
  /** Where declarations of agents go that peers pass on. */
  takeDeclaration(value: unknown, via: string): Promise<unknown>
  /** When this node was last given a declaration. */
  newestDeclarationMs(): Promise<number>
  /** What the shops add to the statement: the log and the witness of this node. */
  announced?(): Announcements
}
