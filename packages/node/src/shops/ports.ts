import type { ProvenAccount } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Sale, SaleHook } from '@assay/till'
import type { LedgerLine } from '@assay/till/ledger'
import type { Sql, Tx } from '@assay/till/store/database'
import type { Unavailable } from '../http/index.ts'
import type { TransparencyLog } from '../tlog/index.ts'
import type { PeerLogs } from '../tlog/peers/index.ts'
import { shopPort } from './shop-ports.ts'

// What shops offer each other, by meaning: the shop that offers a thing and those that use it stay unknown to each other.

/** Offered by the node, once all shops are open: what learns of a sale, for what is sold past the gate. */
export const saleHooks = shopPort<readonly SaleHook[]>('sale_hooks')

/** Wallets funded by one party share a cluster; a wallet never seen is its own. */
export type RelatedParties = (sql: Sql, wallets: readonly Address[]) => Promise<ReadonlyMap<Address, string>>
export const relatedParties = shopPort<RelatedParties>('related_parties')

/** A node of the mesh as far as its DID document needs it. */
export type MeshNodeView = {
  did: string
  /** Its base address. */
  url: string
  /** Ed25519 keys that may sign for it now: thumbprint and base64url `x`. */
  keys: readonly { keyId: string; x: string }[]
  seenAtMs: number
}
export type MeshNodes = { find(sql: Sql, did: string, nowMs: number): Promise<MeshNodeView | undefined> }
export const meshNodes = shopPort<MeshNodes>('mesh_nodes')

/** Reads JSON at a path of a living peer, with the keys that its address publishes; undefined when it is not known or does not answer. */
export type PeerReader = {
  read(
    did: string,
    path: string,
  ): Promise<{ value: unknown; address: string; keys: readonly { kid: string; x: string }[] } | undefined>
}
export const peerReader = shopPort<PeerReader>('peer_reader')

/** A topic that demand is counted for: a node of the IAB content taxonomy, or one of the operator's own list. */
export type Cluster = {
  id: string
  name: string
  parentId: string | null
  /** 1 is the broadest. */
  tier: number
  source: 'iab' | 'operator'
}

/** What the stream said of one cluster and one closed bucket of time. */
export type PublishedBucket = {
  cluster: string
  startsAtMs: number
  endsAtMs: number
  /** Distinct agents, bounded per agent and noisy; null where too few were seen to publish the cell. */
  demand: number | null
  /** Distinct funding clusters whose bond outlasts every listed expiry, noisy, a part of demand; the only figure that moves an index. */
  bonded: number | null
  /** Id of the signed event that published it. */
  eventId: string
  synthetic: boolean
}

export type PublishedDemand = {
  clusters(): readonly Cluster[]
  /** Oldest first; of every cluster when none is named. */
  buckets(range: { cluster?: string; fromMs: number; toMs: number }): Promise<PublishedBucket[]>
  /** Called after a bucket was published by any process; answers how to stop listening. */
  onPublished(listener: (buckets: readonly PublishedBucket[]) => void): () => void
}

/** Published demand, how long after a bucket the bonds that count in it stay locked, and what an agent spent before it counts. */
export type DemandIndex = { demand: PublishedDemand; bondMs: number; spendMicro: bigint }
export const demandIndex = shopPort<DemandIndex>('demand_index')

/** Wallets with a stake in published demand at this time: holders and writers of contracts on it. */
export type MarketParties = (sql: Sql, span: { startsAtMs: number; endsAtMs: number }) => Promise<readonly Address[]>
export const marketParties = shopPort<MarketParties>('market_parties')

/** The log of the node, with the keys of those who witness it. */
export type OpenedLog = {
  tree: TransparencyLog
  witnessKeys(): readonly string[]
  /** Why it is stopped: nothing is sold then that needs a place in it. No I/O. */
  unavailable(): Unavailable | undefined
}
export const transparencyLog = shopPort<OpenedLog>('transparency_log')

/** The logs and witnesses that peers of the mesh announce, and the only way to reach them. */
export const peerLogs = shopPort<PeerLogs>('peer_logs')

/** Who earns from a payment `id`, and whether its citation was found to be wash-traded: SQL over the tables of the shop that offers it. */
export type SaleShares = { creatorsSql(id: string): string; washTradedSql(id: string): string }
export const saleShares = shopPort<SaleShares>('sale_shares')

/** Puts down what creators get of a sale, and gives the ledger lines that carry it. In the transaction of the sale. */
export type CreatorShares = (
  tx: Tx,
  sale: Sale,
  subject: string,
  shares: readonly { domain: string; registrable: string; page: string; micro: Micro }[],
) => Promise<LedgerLine[]>
export const creatorShares = shopPort<CreatorShares>('creator_shares')

/** The text that a page had when a query offered it; undefined when that query did not, or is no longer kept. */
export type FindMatched = (queryId: string, url: string) => Promise<{ textSha256: Uint8Array } | undefined>
export const matchedPages = shopPort<FindMatched>('matched_pages')

/** Wallets that earn from having brought the payer of `id`, as SQL. */
export const saleReferrers = shopPort<{ walletsSql(id: string): string }>('sale_referrers')

/** What `wallet` spent with the operator, as SQL; null if nothing. Kept up with each sale, so nobody adds up payments. */
export const walletSpending = shopPort<{ microSql(wallet: string): string }>('wallet_spending')

/** How many disputes were upheld against what `wallet` had proven, as SQL. */
export const upheldDisputes = shopPort<{ countSql(wallet: string): string }>('upheld_disputes')

/** Anyone who is found to own a source may have cited it: those citations stop counting. `cluster` has all wallets of the owner. */
export type OwnCitations = (
  tx: Tx,
  found: { domain: string; wallet: string; cluster: readonly string[] },
) => Promise<void>
export const ownCitations = shopPort<OwnCitations>('own_citations')

/** How old a feed is, how much of what it describes it has, and what is missing: for buyers, before they pay. */
export type CoveredFeed = {
  feed: string
  as_of: string | null
  available_at: string | null
  coverage_pct: number | null
  missing: string[]
  /** Why it is not for sale now. */
  not_available: string | null
}

/** What a subscription opens: why none of it is for sale, how many of its parts are not, and each of them. No I/O. */
export type CoveredProducts = {
  unavailable(): Unavailable | undefined
  parts(): { down: number; of: number }
  feeds(): readonly CoveredFeed[]
}
export const coveredFeeds = shopPort<CoveredProducts>('covered_feeds')

/** Why the stream of demand is not for sale. No I/O. */
export const streamProduct = shopPort<Pick<CoveredProducts, 'unavailable'>>('stream_product')

/** Whether `wallet` is an agent with a registration on chain that names it, as SQL. */
export const registeredAgents = shopPort<{ registeredSql(wallet: string): string }>('registered_agents')

/** Takes a declaration that an agent's wallet signed and another node passes on. Nothing is believed but the signature. */
export type AgentDeclarations = {
  take(value: unknown, via: string): Promise<{ status: string }>
  /** When the newest one arrived; 0 where there is none. */
  newestMs(): Promise<number>
}
export const agentDeclarations = shopPort<AgentDeclarations>('agent_declarations')

/** How this node names an agent: `did:<method>:0x…` for a wallet with a key, with its chain for a contract. */
export const agentNames = shopPort<(account: ProvenAccount) => string>('agent_names')

/** The operator's part of what creators earn: stamps, claims, texts and royalties. */
export const tollBps = 1_000n
