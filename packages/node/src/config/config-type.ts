import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { Network } from '@assay/till/chain'
import type { FacilitatorChoice } from '@assay/till/facilitators'
import type { PayoutPolicy, WithdrawPolicy } from '@assay/till/payouts'
import type { SignerConnection } from '@assay/till/signer'
import type { Retention } from '@assay/till/store/partitions'
import type { LoopbackTarget } from '../outbound/index.ts'
import type { OpenShop, ShopDeclaration } from '../shops/shop.ts'

export type ConfiguredNetwork = Network & {
  rpcUrls: readonly string[]
  /** The variable that names them. */
  rpcVariable: 'BASE_RPC_URLS' | 'POLYGON_RPC_URLS' | 'CHAINS'
  /** Keeps what is owed to others on this chain. */
  custody: Address
  /** Port of the embedded chain, in demo mode. */
  devnetPort: number
}

/** A shop whose settings were checked. */
export type ConfiguredShop = Pick<ShopDeclaration, 'name' | 'migrations'> &
  Partial<Pick<ShopDeclaration, 'opensWithTill' | 'demoChain' | 'demoRoles' | 'topics'>> & { open: OpenShop }

/** Everything the operator can set. Parsed once; all problems are reported together. */
export type Config = {
  mode: 'demo' | 'production'
  host: string
  port: number
  /** Workers behind one socket. */
  processes: number
  /** This process is their primary; otherwise it does all by itself. */
  supervised: boolean
  home: string
  databaseUrl: string | undefined
  /** Past the transaction pooler that `databaseUrl` names. */
  databaseUrlDirect: string | undefined
  /** A standby of it, for reads that may lag. */
  databaseUrlReplica: string | undefined
  databasePort: number
  /** The first is where all that names no other network is sold. Demo chains replace the assets. */
  networks: readonly ConfiguredNetwork[]
  payTo: Address
  baseUrl: string | undefined
  apiUrl: string | undefined
  signingKeyFile: string | undefined
  logKeyFile: string | undefined
  /** In the order in which they are tried. */
  facilitators: readonly FacilitatorChoice[]
  /** A file with addresses that are not served. */
  /** Whether the Payment authentication scheme is offered beside x402. */
  mpp: boolean
  /** Whether cheap calls are sold through payment channels. */
  channels: boolean
  screeningList: string | undefined
  settlerKeys: readonly Hex[]
  /** Keys of the custody wallets, by which the node pays others. Without one nothing is paid out on that chain. */
  custodyKeys: readonly Hex[]
  /** Calls that one RPC endpoint gets at most. */
  rpcCallsPerMinute: number | undefined
  /** Where traces and metrics are sent. */
  telemetry: { endpoint: string; headers: Record<string, string>; serviceName: string } | undefined
  /** Who holds the keys of these wallets instead of this process. */
  signer: SignerConnection | undefined
  payouts: PayoutPolicy
  /** Where the operator's own money goes from custody, and when. */
  withdrawals: WithdrawPolicy
  /** Ready to open, in their order, with the settings they were given. */
  shops: readonly ConfiguredShop[]
  /** What the variables of shops are set to, by name. */
  values: Readonly<Record<string, unknown>>
  facilitatorToken: string | undefined
  royaltyRecipient: Address
  contentLicense: string
  contactEmail: string
  /** Others are paid at PAY_TO and CUSTODY too, so a transfer without a claim waits for a person. */
  sharedPayees: boolean
  exposureCapMicro: Micro
  retention: Retention
  trustProxy: number
  metricsPublic: boolean
  logLevel: 'silent' | 'error' | 'warn' | 'info'
  erc6492Factories: readonly Address[]
  /** Recursive resolvers of different operators; a domain is believed only when two agree. */
  dnsServers: readonly string[]
  /** Names under .test that a demo node asks at loopback. */
  demoHosts: ReadonlyMap<string, LoopbackTarget>
}
