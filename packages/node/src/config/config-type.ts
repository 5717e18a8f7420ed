import type { Network } from '@assay/till/chain'
import type { FacilitatorChoice } from '@assay/till/facilitators'
import type { Address } from '@assay/till/kernel/address'
import type { Hex } from '@assay/till/kernel/bytes'
import type { Micro } from '@assay/till/kernel/money'
import type { LoopbackTarget } from '../outbound/index.ts'

export type ConfiguredNetwork = Network & {
  rpcUrls: readonly string[]
  /** Keeps what is owed to others on this chain. */
  custody: Address
  /** Of the embedded chain, in demo mode. */
  devnetPort: number
}

/** Everything the operator can set. Parsed once; all problems are reported together. */
export type Config = {
  mode: 'demo' | 'production'
  host: string
  port: number
  home: string
  databaseUrl: string | undefined
  /** Past the transaction pooler that `databaseUrl` names. */
  databaseUrlDirect: string | undefined
  databasePort: number
  /** The first is where all that names no other network is sold. Demo chains replace the assets. */
  networks: readonly ConfiguredNetwork[]
  payTo: Address
  baseUrl: string | undefined
  apiUrl: string | undefined
  signingKeyFile: string | undefined
  logKeyFile: string | undefined
  facilitator: FacilitatorChoice
  settlerKeys: readonly Hex[]
  /** Keys of the custody wallets, by which the node pays others. Without one nothing is paid out on that chain. */
  custodyKeys: readonly Hex[]
  /** Signs moves of creators' money from lost wallets. Never a custody key. */
  moverKey: Hex | undefined
  /** What a shop reads of its own accord, so that the shop can be taken out with its variable. */
  tokens: Record<string, unknown>
  matrix: Record<string, unknown>
  licences: string | undefined
  subscriptions: Record<string, unknown>
  rewards: Record<string, unknown>
  citations: Record<string, unknown>
  intents: Record<string, unknown>
  options: Record<string, unknown>
  natsUrl: string | undefined
  mesh: Record<string, unknown>
  /** Origins of nodes to join. */
  meshPeers: readonly string[]
  payouts: Record<string, unknown>
  credit: Record<string, unknown>
  identity: Record<string, unknown>
  facilitatorToken: string | undefined
  royaltyRecipient: Address
  contentLicense: string
  contactEmail: string
  sandbox: boolean
  /** Others are paid at PAY_TO and CUSTODY too, so a transfer without a claim waits for a person. */
  sharedPayees: boolean
  didMethod: string
  exposureCapMicro: Micro
  trustProxy: number
  /** Wallets that may see the operator's page. */
  operators: readonly Address[]
  metricsPublic: boolean
  logLevel: 'silent' | 'error' | 'warn' | 'info'
  erc6492Factories: readonly Address[]
  /** Recursive resolvers of different operators; a domain is believed only when two agree. */
  dnsServers: readonly string[]
  /** Names under .test that a demo node asks at loopback. */
  demoHosts: ReadonlyMap<string, LoopbackTarget>
}
