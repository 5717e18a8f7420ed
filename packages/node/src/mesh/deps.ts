import type { Announcements } from '../http/index.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Rng } from '../kernel/random.ts'
import type { ClaimNonce } from '../proofs/index.ts'
import type { Keyring, ResponseSigner } from '../signing/index.ts'
import type { Database } from '../store/database.ts'
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
  /** What the shops add to the statement: the log and the witness of this node. */
  announced?(): Announcements
}
