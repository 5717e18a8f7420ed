import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Rng } from '@assay/till/kernel/random'
import type { ClaimNonce } from '@assay/till/proofs'
import type { Keyring, ResponseSigner } from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import type { NodeAddress } from './node-address.ts'
import type { PeerFetcher } from './peer-fetcher.ts'
import type { MeshSettings } from './settings.ts'
import type { Offer } from './statement.ts'

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
  self: NodeAddress & { baseUrl: string; name: string; networks: readonly { network: string; asset: string }[] }
  /** What this node offers; complete once all shops are open. */
  offers(): readonly Offer[]
}
