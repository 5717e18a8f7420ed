import type { Address } from '@assay/protocol/address'
import type { ChainPort, Rpc } from '@assay/till/chain'
import type { JwsPort } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Database } from '@assay/till/store/database'

export type FundingSettings = {
  /** How far back the money of a wallet is followed when it is first seen. */
  lookBackBlocks: bigint
  /** A funder, a funder of a funder, and so on: this many steps. */
  hops: number
  /** Blocks asked for at once; endpoints that give fewer are asked in halves. */
  blocksAtOnce: bigint
  /** How long a suspicious share is held. */
  challengeMs: number
  /** A citation waits this long for a chain that cannot be read, then it is checked by what is known. */
  patienceMs: number
}

export type FundingDeps = {
  database: Database
  clock: Clock
  log: Log
  jws: JwsPort
  chain: Pick<ChainPort, 'network' | 'finalizedBlock'>
  rpc: Rpc
  /** Our own wallets, whatever the operator knows to serve the public, and nobody's: having them in common says nothing. */
  publicFunders: ReadonlySet<Address>
  settings: FundingSettings
}

export const defaultFunding = { hops: 6, blocksAtOnce: 10_000n, patienceMs: 1_800_000 }
