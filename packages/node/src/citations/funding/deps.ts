import type { ChainPort, Rpc } from '../../chain/index.ts'
import type { Address } from '../../kernel/address.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { JwsPort } from '../../payments/index.ts'
import type { Database } from '../../store/database.ts'

export type FundingSettings = {
  /** How far back the money of a wallet is followed when it is first seen. */
  lookBackBlocks: bigint
  /** A funder, a funder of a funder, and so on: this many steps. */
  hops: number
  /** Blocks asked for at once; endpoints that give fewer are asked in halves. */
  blocksAtOnce: bigint
  /** How long a suspicious share is held. */
  challengeMs: number
  /** A citation waits this long for a chain that cannot be read, then it is judged by what is known. */
  patienceMs: number
}

export type FundingDeps = {
  database: Database
  clock: Clock
  log: Log
  jws: JwsPort
  chain: Pick<ChainPort, 'network' | 'finalizedBlock'>
  rpc: Rpc
  /** Our own purses, whatever the operator knows to serve the public, and nobody's: having them in common says nothing. */
  publicFunders: ReadonlySet<Address>
  settings: FundingSettings
}

export const usualFunding = { hops: 2, blocksAtOnce: 10_000n, patienceMs: 1_800_000 }
