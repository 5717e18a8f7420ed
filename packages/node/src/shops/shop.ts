import type { Json } from '@assay/protocol/canonical-json'
import type { ChainPort, Network, Rpc, RpcEndpoint } from '@assay/till/chain'
import type { Custody, OpenedSettlement, SalePart } from '@assay/till/compose'
import type { ChainExtension } from '@assay/till/devnet'
import type { Attribution, JwsPort, Payees } from '@assay/till/internal'
import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Rng } from '@assay/till/kernel/random'
import type { ProofDeps } from '@assay/till/proofs'
import type { Keyring } from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import type { RetentionRule } from '@assay/till/store/retention'
import type { RouteDeclaration } from '../http/route.ts'
import type { LogEntryType } from '../tlog/repair/describe-entry.ts'
import type { Prompt } from './prompt.ts'
import type { ShopPorts } from './shop-ports.ts'
import type { NodeFacts, Values, Variables } from './shop-settings.ts'
import type { Topic } from './topic.ts'

/** What a shop gets: the layers below it, opened and wired. */
export type ShopContext = {
  mode: 'demo' | 'production'
  baseUrl: string
  apiUrl: string
  /** Where all that names no other network is sold, and every network the node takes money on, this one first. */
  base: Network
  networks: readonly Network[]
  /** The networks, and each further dollar of the operator as one more: for routes that take any of them. */
  assets: readonly Network[]
  chains: ReadonlyMap<string, ChainPort>
  /** Raw reads, by network, and the endpoints behind them where each one's own answer counts. */
  rpcs: ReadonlyMap<string, Rpc>
  endpoints: ReadonlyMap<string, readonly RpcEndpoint[]>
  /** The node's data folder. */
  home: string
  /** Where this process keeps what it can make again; processes of one data folder have one each. */
  cacheFolder: string
  payees: Payees
  /** How money leaves custody; undefined in a process that does no jobs. */
  custody: Custody | undefined
  /** Who must not be sold to: for what is paid from credit past the gate. */
  screening: OpenedSettlement['screening']
  /** What shops offer each other. */
  ports: ShopPorts
  /** Those of all shops of this node. */
  topics: readonly Topic[]
  database: Database
  keyring: Keyring
  /** Signs the heads of the log and nothing else. */
  logKeyring: Keyring
  jws: JwsPort
  proofs: ProofDeps
  clock: Clock
  rng: Rng
  ids: Ids
  log: Log
  metrics: Metrics
}

/** What a shop brings: routes, what a wallet may use without paying, who else is notified of a sale, and its own work. */
export type Shop = SalePart & {
  routes: readonly RouteDeclaration[]
  /** Called for every request that names who referred its sender; no I/O. */
  onAttribution?(attribution: Attribution): void
  /** Called for every request that was not answered from memory, with its headers; no I/O. */
  onAnswered?(rawHeaders: readonly string[]): void
  /** Members of the node's signed statement in the mesh, beside its offers. No I/O. */
  announces?(): Announcements
  /** Called with every route of the node once all shops are open, and with what the shops announce. */
  onRoutes?(routes: readonly RouteDeclaration[], announced: () => Announcements): void
  /** URL of another node that answers a path which this one does not; no I/O. */
  findPeer?(method: string, path: string): string | undefined
  /** Members of the index's `demo` object, in demo mode only; called when the index is asked for. */
  demo?(): Record<string, unknown>
  /** In demo mode, what documents show in place of a word of an example, so that the example answers when it is sent. */
  examples?: Readonly<Record<string, string>>
  /** Path of something cheap that a newcomer can buy to see how paying works. */
  firstPurchase?: string
  /** What a browser gets at `/`, where everybody else gets the index. One shop at most has it. */
  page?(): Promise<{ body: string; headers: Record<string, string> }>
  /** Jobs that its tools can do together, for models that ask. */
  prompts?: readonly Prompt[]
  /** Work that makes the first call quick; a node calls it once when it starts, tests do not. */
  warm?(): Promise<void>
  stop?(): Promise<void>
}

export type Announcements = Readonly<Record<string, Json>>

/** A shop as the node lists it: all that is known of it before it opens. */
export type ShopDeclaration = {
  name: string
  /** It opens as well where a node is started with no more than what paying needs. */
  opensWithTill: boolean
  variables: Variables
  /** Folders of the migrations that make its tables: its own, and those of shops whose tables it reads. */
  migrations: readonly URL[]
  /** What it needs on the embedded chains of a demo node: contracts, and answers of the chain. */
  demoChain?: ChainExtension
  /** Further funded accounts on those chains, whose keys everybody has. Shops share a role by its name. */
  demoRoles?: readonly string[]
  /** What can be watched of it. */
  topics?: readonly Topic[]
  /** How long the rows of its own tables are kept: each table is in one of them. docs/retention.md is written from them. */
  retention: readonly RetentionRule[]
  /** What it appends to the transparency log, so that a repair knows what an entry is about. */
  logEntries: readonly LogEntryType[]
  /** Checks the values of its variables; throws a SettingsError with all that is wrong with them. */
  configure(values: Readonly<Record<string, unknown>>, node: NodeFacts): OpenShop
}

export function declareShop<const V extends Variables = Record<never, never>>({
  configure,
  ...shop
}: Pick<ShopDeclaration, 'name' | 'demoChain' | 'demoRoles' | 'topics'> &
  Partial<Pick<ShopDeclaration, 'opensWithTill' | 'migrations' | 'retention' | 'logEntries'>> & {
    variables?: V
    configure(values: Values<V>, node: NodeFacts): OpenShop
  }): ShopDeclaration {
  return {
    opensWithTill: false,
    variables: {},
    migrations: [],
    retention: [],
    logEntries: [],
    ...shop,
    configure: (values, node) => configure(values as Values<V>, node),
  }
}

export type OpenShop = (context: ShopContext) => Shop | Promise<Shop>
