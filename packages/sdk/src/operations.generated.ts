// Written by `npm run operations` from the OpenAPI document of a node; do not edit.

/** Every operation of a node: what it takes and what it answers. */
export type Operations = {
  /** Declare what an agent can do; signed by its wallet. */
  'agents.capabilities.declare': {
    input: { params: { did: string }; body: { name?: string; description?: string; capabilities: { id: string; name?: string; description?: string; tags?: string[]; url?: string; price_usd?: string }[]; services?: ({ type: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; url: string })[]; erc8004?: { network: string; agent_id: string }; expected_version?: number } }
    answer: { did: string; wallet: string; name: string | null; description: string | null; version: number; capabilities: { id: string; name?: string; description?: string; tags?: string[]; url?: string; price_usd?: string }[]; services: ({ type: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; url: string })[]; erc8004: { network: string; agent_id: string } | null; credit_rating: { subject: string; method: string; issuer: string; score: number; interval: { low: number; high: number; level: number }; components: ({ id: string; value: number; evidence: Record<string, number | string> })[]; evidence: Record<string, number | string>; computed_at: string; valid_until: string; jws: string } | null; payment_authorizations: unknown[]; declared_at: string | null }
  }
  /** Every declaration of an agent, newest first, with its signer. */
  'agents.capabilities.history': {
    input: { params: { did: string }; query?: { limit?: string | number; cursor?: string | number } }
    answer: { data: ({ version: number; declaration: { name?: string; description?: string; capabilities: { id: string; name?: string; description?: string; tags?: string[]; url?: string; price_usd?: string }[]; services?: ({ type: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; url: string })[]; erc8004?: { network: string; agent_id: string } }; signer: string; declared_at: string })[]; next_cursor: string | null }
  }
  /** Revoke everything an agent declared. */
  'agents.capabilities.revoke': {
    input: { params: { did: string } }
    answer: { did: string; wallet: string; name: string | null; description: string | null; version: number; capabilities: { id: string; name?: string; description?: string; tags?: string[]; url?: string; price_usd?: string }[]; services: ({ type: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; url: string })[]; erc8004: { network: string; agent_id: string } | null; credit_rating: { subject: string; method: string; issuer: string; score: number; interval: { low: number; high: number; level: number }; components: ({ id: string; value: number; evidence: Record<string, number | string> })[]; evidence: Record<string, number | string>; computed_at: string; valid_until: string; jws: string } | null; payment_authorizations: unknown[]; declared_at: string | null }
  }
  /** What an agent declared here, as an A2A agent card. */
  'agents.card': {
    input: { params: { did: string } }
    answer: { name: string; version: string; skills: Record<string, unknown>[] }
  }
  /** Deactivate a DID at this node, for good; signed by its wallet. */
  'agents.deactivate': {
    input: { params: { did: string } }
    answer: { did: string; deactivated: true; deactivated_at: string }
  }
  /** Declarations of agents as their wallets signed them, for other nodes. */
  'agents.declarations': {
    input: { query?: { since?: number } }
    answer: { data: ({ type: 'x402-agent-declaration'; account: string; sequence: number; declaration: { name?: string; description?: string; capabilities: { id: string; name?: string; description?: string; tags?: string[]; url?: string; price_usd?: string }[]; services?: ({ type: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; url: string })[]; erc8004?: { network: string; agent_id: string } }; signature: string })[]; until_ms: number }
  }
  /** Declare what an agent can do, at all nodes of the mesh; signed once by its wallet. */
  'agents.declarations.give': {
    input: { body: { type: 'x402-agent-declaration'; account: string; sequence: number; declaration: { name?: string; description?: string; capabilities: { id: string; name?: string; description?: string; tags?: string[]; url?: string; price_usd?: string }[]; services?: ({ type: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; url: string })[]; erc8004?: { network: string; agent_id: string } }; signature: string } }
    answer: { account: string; status: 'taken' | 'known'; version: number }
  }
  /** Agents by what they can do, best rated first. */
  'agents.search': {
    input: { query?: { capability?: string | number; service?: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; score_min?: string | number; limit?: string | number; cursor?: string } }
    answer: { data: ({ did: string; name: string | null; version: number; credit_score: number | null; capabilities: { id: string; name?: string; description?: string; tags?: string[]; url?: string; price_usd?: string }[]; services: ({ type: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; url: string })[]; updated_at: string })[]; next_cursor: string | null }
  }
  /** One agent: rating with its evidence, capabilities, services, payment authorizations. */
  'agents.show': {
    input: { params: { did: string } }
    answer: { did: string; wallet: string; name: string | null; description: string | null; version: number; capabilities: { id: string; name?: string; description?: string; tags?: string[]; url?: string; price_usd?: string }[]; services: ({ type: 'x402' | 'agent_card' | 'mcp' | 'a2a' | 'web'; url: string })[]; erc8004: { network: string; agent_id: string } | null; credit_rating: { subject: string; method: string; issuer: string; score: number; interval: { low: number; high: number; level: number }; components: ({ id: string; value: number; evidence: Record<string, number | string> })[]; evidence: Record<string, number | string>; computed_at: string; valid_until: string; jws: string } | null; payment_authorizations: unknown[]; declared_at: string | null }
  }
  /** An attestation with its proofs, and what became of the payout. */
  'attestations.show': {
    input: { params: { id: string } }
    answer: { id: string; url: string; record: { type: string; source_url?: string; agent_wallet: string }; attestation: { sig: { uid: string }; signer: string }; split: { price_micro: string; creator_micro: string; toll_micro: string }; payouts: ({ domain: string; wallet: string | null; micro: string; state: 'waiting' | 'held' | 'accrued' | 'committing' | 'committed' | 'settled' | 'reversed' | 'expired'; note: string })[]; weight: { counts: boolean; reasons: string[] }; log: { state: 'logged' | 'pending' } }
  }
  /** A sign-in-with-x challenge to sign with a wallet. */
  'auth.challenge': {
    input: { body: { address?: string; chain_id?: string } }
    answer: { header: 'SIGN-IN-WITH-X'; expires_at: string; info: { domain: string; uri: string; version: '1'; nonce: string; issuedAt: string; expirationTime: string; statement: string }; supportedChains: { chainId: string; type: 'eip191' }[]; message?: string }
  }
  /** Check a request-bound signature (ERC-8128) and learn whose it is. */
  'auth.check': {
    input: { body: Record<string, unknown> }
    answer: { did: string }
  }
  /** A 15-minute session for a signed challenge. */
  'auth.session': {
    input: Record<string, never>
    answer: { token: string; token_type: 'Bearer'; did: string; expires_at: string }
  }
  /** The account behind a session token. */
  'auth.whoami': {
    input: Record<string, never>
    answer: { did: string }
  }
  /** Ranked, citable pages for a question, with quotable snippets, CiteScore, licence and price (paid). */
  'citations.match': {
    input: { body: { query: string; limit?: number; min_score?: number; licence?: string; language?: string; max_age_days?: number; since?: string; until?: string; type?: 'html' | 'text' | 'pdf'; domains?: string[]; content?: boolean; content_usd_max?: string } }
    answer: { query_id: string; data: ({ rank: number; url: string; canonical_url: string; title: string; snippet: string | null; snippet_sha256: string | null; snippet_start: number | null; snippet_end: number | null; text_sha256: string; matched_terms: string[]; domain: string; authors: string[]; publisher: string | null; language: string | null; type: 'html' | 'text' | 'pdf'; citation: { apa: string; mla: string; bibtex: string; markdown: string }; cite_score: number | null; licence: { name: string | null; url: string } | null; terms: { snippet: boolean; reason: string | null; content: boolean }; price: { attest_micro: string; attest_usd: string; creator_micro: string; content_micro: string | null } | null; published_at: string | null; modified_at: string | null; fetched_at: string; relevance: number; parts: Record<string, number>; synthetic: boolean; content?: string | null })[]; next_cursor: null; understood: { looked_for: string[]; ignored: string[]; unknown: string[]; suggestions: Record<string, string> }; searched_at: string; synthetic: boolean }
  }
  /** Stamp a citation: signed, logged, and its creator gets 90 % of the price (paid). */
  'cite.attest': {
    input: { body: { source_url: string; agent_wallet: string; quote?: string; claim?: string; query_id?: string; agent_signature?: string } }
    answer: { id: string; url: string; record: { type: string; source_url?: string; agent_wallet: string }; attestation: { sig: { uid: string }; signer: string }; split: { price_micro: string; creator_micro: string; toll_micro: string }; payouts: ({ domain: string; wallet: string | null; micro: string; state: 'waiting' | 'held' | 'accrued' | 'committing' | 'committed' | 'settled' | 'reversed' | 'expired'; note: string })[]; weight: { counts: boolean; reasons: string[] }; log: { state: 'logged' | 'pending' } }
  }
  /** Anchor a statement with the sources it rests on: signed, logged, its creators paid (paid). */
  'claims.anchor': {
    input: { body: { statement: string; sources: string[]; agent_wallet: string; agent_signature?: string } }
    answer: { id: string; url: string; record: { type: string; source_url?: string; agent_wallet: string }; attestation: { sig: { uid: string }; signer: string }; split: { price_micro: string; creator_micro: string; toll_micro: string }; payouts: ({ domain: string; wallet: string | null; micro: string; state: 'waiting' | 'held' | 'accrued' | 'committing' | 'committed' | 'settled' | 'reversed' | 'expired'; note: string })[]; weight: { counts: boolean; reasons: string[] }; log: { state: 'logged' | 'pending' } }
  }
  /** What a creator earned by page, payer or day. */
  'creators.earnings': {
    input: { params: { wallet: string }; query?: { by?: 'page' | 'payer' | 'day'; from?: string; until?: string; cursor?: string; limit?: number } }
    answer: { data: ({ key: string; domain: string | null; citations: number; earned_micro: string; earned_usd: string })[]; next_cursor: string | null }
  }
  /** The leaves of an epoch on chain, and the entries of the log that each of them sums. */
  'creators.epoch': {
    input: { params: { network: string; epoch: string | number }; query?: { from?: string | number; distributor?: string } }
    answer: { network: string; distributor: string; epoch: string; root: string; pot_micro: string; state: string; opens_at: string | null; commit_transaction: string | null; leaves: ({ account: string; domain: string | null; wallet: string; micro: string; shares: ({ id: string; micro: string; log_index: string | null })[]; set_off: ({ id: string; micro: string; log_index: string | null })[] })[]; next: number | null }
  }
  /** Ask for what a domain earned for an earlier wallet that was lost. */
  'creators.move': {
    input: { params: { domain: string }; body: { from: string } }
    answer: { domain: string; from: string; moves: ({ network: string; distributor: string; domain: string | null; from: string; to: string; state: 'asked' | 'pending' | 'moved' | 'refused'; ready_at: string | null; note: string })[] }
  }
  /** What a creator has earned, what is on chain for it, and how to claim it without us. */
  'creators.show': {
    input: { params: { wallet: string } }
    answer: { wallet: string; earned_micro: string; chains: ({ network: string; accrued_micro: string; held_micro: string; committed_micro: string; claimed_micro: string; claimable_micro: string; threshold_micro: string; distributor: string; earlier_distributors: string[]; claims: ({ to: string; data: string; domain: string | null; micro: string })[] })[]; moves: ({ network: string; distributor: string; domain: string | null; from: string; to: string; state: 'asked' | 'pending' | 'moved' | 'refused'; ready_at: string | null; note: string })[]; payouts: { network: string; transaction: string; payee: string; amount_micro: string; claimed_at: string }[]; recent: { id: string; micro: string; state: string }[] }
  }
  /** Set from which amount on a creator is sent what it has on chain. */
  'creators.threshold': {
    input: { params: { wallet: string }; body: { threshold_usd: string } }
    answer: { wallet: string; earned_micro: string; chains: ({ network: string; accrued_micro: string; held_micro: string; committed_micro: string; claimed_micro: string; claimable_micro: string; threshold_micro: string; distributor: string; earlier_distributors: string[]; claims: ({ to: string; data: string; domain: string | null; micro: string })[] })[]; moves: ({ network: string; distributor: string; domain: string | null; from: string; to: string; state: 'asked' | 'pending' | 'moved' | 'refused'; ready_at: string | null; note: string })[]; payouts: { network: string; transaction: string; payee: string; amount_micro: string; claimed_at: string }[]; recent: { id: string; micro: string; state: string }[] }
  }
  /** What a wallet has paid in and not used, and its refunds. */
  'credit.balance': {
    input: { params: { wallet: string } }
    answer: { wallet: string; credit: { network: string; credit_micro: string; credit_usd: string; held_micro: string; bonded_micro: string; not_final_micro: string; refundable_micro: string; in_review_micro: string }[]; refunds: ({ id: string; network: string; amount_micro: string; state: string; waits_for: 'approval' | 'daily_limit' | 'operator_funds' | null; transaction: string | null; created_at: string; paid_at: string | null })[] }
  }
  /** Lock a part of your credit, so that your word counts for more. */
  'credit.bond': {
    input: { body: { usd: string; days: number; network?: string } }
    answer: { id: string; wallet: string; network: string; bonded_micro: string; slashed_micro: string; state: 'locked' | 'releasing' | 'released' | 'slashed'; locked_at: string; locked_until_at: string; release_delay_seconds: number; release_at: string | null; ended_at: string | null }
  }
  /** Ask for a bond back; it follows after a delay, and can be taken by a ruling until then. */
  'credit.bond.release': {
    input: { body: { bond_id: string } }
    answer: { id: string; wallet: string; network: string; bonded_micro: string; slashed_micro: string; state: 'locked' | 'releasing' | 'released' | 'slashed'; locked_at: string; locked_until_at: string; release_delay_seconds: number; release_at: string | null; ended_at: string | null }
  }
  /** What a wallet has at stake, newest first. */
  'credit.bonds': {
    input: { params: { wallet: string } }
    answer: { data: ({ id: string; wallet: string; network: string; bonded_micro: string; slashed_micro: string; state: 'locked' | 'releasing' | 'released' | 'slashed'; locked_at: string; locked_until_at: string; release_delay_seconds: number; release_at: string | null; ended_at: string | null })[]; next_cursor: null }
  }
  /** Credit goes back to the wallet that paid it in, on the chain where it did. */
  'credit.refund': {
    input: { body: { usd?: string; network?: string } }
    answer: { wallet: string; refunds: ({ network: string; refunded_micro: string; cost_micro: string; paid_micro: string; payout: string; state: 'queued' | 'waiting' })[] }
  }
  /** Pay USDC in, to be drawn on by signed requests (paid). */
  'credit.topup': {
    input: { query?: { usd?: string } }
    answer: { wallet: string; network: string; added_micro: string; credit_micro: string; provisional: boolean }
  }
  /** Pay USDC in; the amount is in the body (paid). */
  'credit.topup.post': {
    input: { body: { usd?: string } }
    answer: { wallet: string; network: string; added_micro: string; credit_micro: string; provisional: boolean }
  }
  /** Resolve the DID of an agent or node: keys, services, rating, capabilities, payment authorizations. */
  'did.identifiers': {
    input: { params: { did: string }; query?: { versionId?: string; versionTime?: string; expandRelativeUrls?: string; service?: string; serviceType?: string; verificationRelationship?: string } }
    answer: { didDocument: { id: string } | null; didResolutionMetadata: Record<string, unknown>; didDocumentMetadata: Record<string, unknown> }
  }
  /** Resolve the DID of an agent or node: keys, services, rating, capabilities, payment authorizations. */
  'did.resolve': {
    input: { params: { did: string }; query?: { versionId?: string; versionTime?: string; expandRelativeUrls?: string; service?: string; serviceType?: string; verificationRelationship?: string } }
    answer: { didDocument: { id: string } | null; didResolutionMetadata: Record<string, unknown>; didDocumentMetadata: Record<string, unknown> }
  }
  /** The node as an A2A agent card: one skill for each thing it sells. */
  'discovery.agent_card': {
    input: Record<string, never>
    answer: Record<string, unknown>
  }
  /** Links to the descriptions of this service (RFC 9727). */
  'discovery.api_catalog': {
    input: Record<string, never>
    answer: string
  }
  /** The node as did:web, with the same keys. */
  'discovery.did': {
    input: Record<string, never>
    answer: Record<string, unknown>
  }
  /** What this node sells, at what price, on which networks, and where everything is. */
  'discovery.index': {
    input: Record<string, never>
    answer: Record<string, unknown>
  }
  /** The keys that sign responses, with their validity. */
  'discovery.keys': {
    input: Record<string, never>
    answer: Record<string, unknown>
  }
  /** What may be done with the answers. */
  'discovery.license': {
    input: Record<string, never>
    answer: string
  }
  /** The service as text for language models: routes, prices, how to pay. */
  'discovery.llms': {
    input: Record<string, never>
    answer: string
  }
  /** OpenAPI 3.1 of what buyers use, with prices, schemas and examples; it leads to the rest. */
  'discovery.openapi': {
    input: Record<string, never>
    answer: Record<string, unknown>
  }
  /** OpenAPI 3.1 of every route in one document, for generators. */
  'discovery.openapi_full': {
    input: Record<string, never>
    answer: Record<string, unknown>
  }
  /** Root manifest of this node: keys, networks, every resource with price and schemas in pages, the mesh. */
  'discovery.x402': {
    input: { query?: { page?: string | number } }
    answer: Record<string, unknown>
  }
  /** Paid resources in the shape of the draft for well-known discovery. */
  'discovery.x402_draft': {
    input: Record<string, never>
    answer: Record<string, unknown>
  }
  /** What one problem code means and what to do about it. */
  'errors.get': {
    input: { params: { code: string } }
    answer: { code: string; title: string; status: number; retryable: boolean; hint: string }
  }
  /** Every problem this node can answer with. */
  'errors.list': {
    input: Record<string, never>
    answer: { data: { code: string; title: string; status: number; retryable: boolean; hint: string }[]; next_cursor: null }
  }
  /** The ERC-8004 registration file of this node. */
  'identity.registration': {
    input: Record<string, never>
    answer: { type: string; name: string; registrations: unknown[] }
  }
  /** An invoice or receipt for payments of the wallet that signed the request. */
  'invoices.issue': {
    input: { body: { payment_ids?: string[]; from?: string; to?: string; buyer?: { name?: string; address?: string; tax_id?: string } } }
    answer: { id: string; document: { kind: 'invoice' | 'receipt'; number: string; issued_at: string; seller: { name: string; address: string; tax_id: string; url: string }; buyer: { name: string; address: string; tax_id: string; wallet: string }; currency: 'USDC'; lines: { payment_id: string; paid_at: string; what: string; network: string; transaction: string; amount_micro: string; refunded_micro: string }[]; net_micro: string; tax_name: string; tax_rate: string; tax_micro: string; total_micro: string; note: string }; jws: string }
  }
  /** An invoice as JSON, as a page to print, or as PDF. */
  'invoices.show': {
    input: { params: { id: string } }
    answer: { id: string; document: { kind: 'invoice' | 'receipt'; number: string; issued_at: string; seller: { name: string; address: string; tax_id: string; url: string }; buyer: { name: string; address: string; tax_id: string; wallet: string }; currency: 'USDC'; lines: { payment_id: string; paid_at: string; what: string; network: string; transaction: string; amount_micro: string; refunded_micro: string }[]; net_micro: string; tax_name: string; tax_rate: string; tax_micro: string; total_micro: string; note: string }; jws: string }
  }
  /** The newest signed tree head, with the signatures of the witnesses. */
  'log.checkpoint': {
    input: Record<string, never>
    answer: string
  }
  /** Proof that a later tree begins with an earlier one. */
  'log.consistency': {
    input: { query: { from: string | number; to: string | number } }
    answer: { from: string; to: string; proof: string[] }
  }
  /** The transparency log: its files, keys and what they were said to be, witnesses, and whether it is stopped. */
  'log.describe': {
    input: Record<string, never>
    answer: { origin: string; prefix: string; size: string; state: 'open' | 'stopped'; stopped: { reason: string; detail: string; since: string | null } | null; keys: string[]; key_statements: Record<string, unknown>[]; witnesses: string[]; anchors: ({ network: string; size: string; contract: string; transaction: string | null; anchored_at: string | null })[]; predecessors: ({ origin: string; last_head: string | null; replaced_at: string })[] }
  }
  /** Hashes or entries of the log, 256 at a time. */
  'log.tile1': {
    input: { params: { level: string; a: string } }
    answer: string
  }
  /** The witness that this node is to its mesh peers: its key, and the logs it cosigned. */
  'log.witness': {
    input: Record<string, never>
    answer: { url: string; key: string; logs: ({ origin: string; size: string; first_size: string | null; cosigned_at: string | null })[] }
  }
  /** Let another wallet draw on your credit, within limits that you sign. */
  'mandates.create': {
    input: { body: { owner: string; delegate: string; routes: string[]; cap_per_call_micro: string; cap_per_day_micro: string; cap_total_micro: string; expires_at: string; nonce: string; chain_id?: number; signature: string } }
    answer: { id: string; owner: string; delegate: string; chain_id: number; routes: string[]; cap_per_call_micro: string; cap_per_day_micro: string; cap_total_micro: string; drawn_today_micro: string; drawn_total_micro: string; expires_at: string; nonce: string; state: 'open' | 'unconfirmed' | 'expired' | 'revoked'; created_at: string; revoked_at: string | null }
  }
  /** Mandates that the signing wallet gave or was given, newest first. */
  'mandates.list': {
    input: { query?: { state?: 'open' | 'all'; limit?: string | number; cursor?: string } }
    answer: { data: ({ id: string; owner: string; delegate: string; chain_id: number; routes: string[]; cap_per_call_micro: string; cap_per_day_micro: string; cap_total_micro: string; drawn_today_micro: string; drawn_total_micro: string; expires_at: string; nonce: string; state: 'open' | 'unconfirmed' | 'expired' | 'revoked'; created_at: string; revoked_at: string | null })[]; next_cursor: string | null }
  }
  /** Revoke a mandate; the next draw under it is refused. */
  'mandates.revoke': {
    input: { params: { id: string } }
    answer: { id: string; owner: string; delegate: string; chain_id: number; routes: string[]; cap_per_call_micro: string; cap_per_day_micro: string; cap_total_micro: string; drawn_today_micro: string; drawn_total_micro: string; expires_at: string; nonce: string; state: 'open' | 'unconfirmed' | 'expired' | 'revoked'; created_at: string; revoked_at: string | null }
  }
  /** The topics that demand is counted for. */
  'market.intents.clusters': {
    input: Record<string, never>
    answer: { data: ({ id: string; name: string; parent: string | null; tier: number; source: 'iab' | 'operator' })[]; next_cursor: null; attribution: string }
  }
  /** The intent stream for a subscriber, opened by a ticket in the address. */
  'market.intents.events': {
    input: { query?: { ticket?: string; cluster?: string; after?: string } }
    answer: string
  }
  /** Signed events of one day, one a line, byte for byte as they were streamed. */
  'market.intents.file': {
    input: { params: { file: string }; query?: { ticket?: string } }
    answer: string
  }
  /** Everything published since a subscription to the intent stream began, as files by day. */
  'market.intents.files': {
    input: { query?: { ticket?: string } }
    answer: { data: { file: string; day: string; events: number; complete: boolean; url: string }[]; next_cursor: null }
  }
  /** One hour of the intent stream, a day old, free. */
  'market.intents.sample': {
    input: { query?: { limit?: string | number; cursor?: string } }
    answer: { data: ({ specversion: '1.0'; id: string; source: string; type: 'market.intent.tick.v1'; subject: string; time: string; datacontenttype: 'application/json'; datasha256: string; signature: string; data: { cluster: { id: string; name: string; tier: number; parent: string | null; source: 'iab' | 'operator' }; starts_at: string; ends_at: string; demand: number; bonded: number; error_95: { demand: number; bonded: number }; trend: { ewma: number; change_pct: number | null }; rising: ({ term: string; demand: number; change_pct: number | null })[]; own?: { demand: number; bonded: number }; peers?: { demand: number; nodes: number }; privacy: { k: number; epsilon_bucket: string; noise_scale: number }; synthetic: boolean } } | { specversion: '1.0'; id: string; source: string; type: 'market.intent.bucket.v1'; subject: string; time: string; datacontenttype: 'application/json'; datasha256: string; signature: string; data: { starts_at: string; ends_at: string; published_clusters: number; total_demand: number; withheld: 'privacy_budget' | null; skipped_from_at: string | null; peers?: { nodes: ({ did: string; ends_at: string | null; state: 'counted' | 'stale' | 'silent' })[]; clusters: { demand: number; nodes: number; id: string }[]; left_out: number; bounds: string }; privacy: { k: number; unit: string; contribution: string; mechanism: string; epsilon_bucket: string; epsilon_daily: string; bucket_seconds: number; tiers: number; noise_scale: number; error_95: { demand: number; bonded: number; terms: number }; threshold: number; epsilon_spent_today: string }; synthetic: boolean } })[]; next_cursor: string | null; from_at: string; to_at: string; note: string | null; privacy: { k: number; unit: string; contribution: string; mechanism: string; epsilon_bucket: string; epsilon_daily: string; bucket_seconds: number; tiers: number; noise_scale: number; error_95: { demand: number; bonded: number; terms: number }; threshold: number }; attribution: string; synthetic: boolean }
  }
  /** Demand of one topic over time, as a subscriber saw it published. */
  'market.intents.series': {
    input: { query: { ticket?: string; cluster: string; after?: string } }
    answer: { cluster: string; data: ({ id: string; starts_at: string; ends_at: string; demand: number; bonded: number; error_95: number | null; ewma: number | null })[]; next_cursor: string | null }
  }
  /** Whether the intent stream is worth its price: its errors of the last day, and by traffic. */
  'market.intents.signal': {
    input: Record<string, never>
    answer: { promised_error_pct: number; sold: boolean; reason: string | null; last_day: { from_at: string; to_at: string; figures: number; error_pct: number | null } | null; privacy: { k: number; unit: string; contribution: string; mechanism: string; epsilon_bucket: string; epsilon_daily: string; bucket_seconds: number; tiers: number; noise_scale: number; error_95: { demand: number; bonded: number; terms: number }; threshold: number }; simulated: ({ agents_daily: number; bucket_seconds: number; tiers: number; figures: number; error_pct: number | null; covered_pct: number | null; sold: boolean })[] }
  }
  /** What agents search for, by topic and time: noisy counts, trend and rising terms, as a live stream (paid). */
  'market.intents.stream': {
    input: { query?: { cluster?: string; after?: string } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean } | null; token: string | null; receipt: string | null; stream: { url: string; heartbeat_seconds: number; bucket_seconds: number; replay_hours: number; connections: number; clusters: string; attribution: string } }
  }
  /** A short-lived ticket that opens the intent stream from a browser. */
  'market.intents.ticket': {
    input: Record<string, never>
    answer: { ticket: string; url: string; seconds_left: number; expires_at: string }
  }
  /** Files of past months of a feed, with their hashes. */
  'matrix.bulk': {
    input: { params: { feed: string } }
    answer: { feed: 'squeeze' | 'equities' | 'etf' | 'short-volume' | 'short-interest' | 'ftd' | 'threshold' | 'borrow' | 'halts' | 'institutional'; data: ({ file: string; month: string; format: 'csv' | 'parquet'; rows: number; bytes: number; sha256: string; made_of: string; made_at: string })[]; price_usd_per_file: string; disclaimer: string; next_cursor: null }
  }
  /** The newest snapshot that has been public for a while, free. */
  'matrix.delayed': {
    input: { params: { feed: string }; query?: { symbol?: string; limit?: string | number; min_score?: string | number; sort?: string; filter?: string; cursor?: string; as_of?: string; screen?: string } }
    answer: { feed: 'squeeze' | 'equities' | 'etf' | 'short-volume' | 'short-interest' | 'ftd' | 'threshold' | 'borrow' | 'halts' | 'institutional'; tier: 'live' | 'vip' | 'delayed'; as_of: string; available_at: string; known_at?: string; data_vintage: string; sha256: string; method: string; coverage_pct: number; row_count: number; ranked_by: string; synthetic: boolean; stale: boolean; next_expected_at: string | null; sources: { source: string; as_of: string; available_at: string; licence: string; attribution: string }[]; left_out: { source: string; reason: string }[]; unranked: Record<string, string>; disclaimer: string; data: ({ rank: number; symbol: string; name: string | null; kind: string; score?: number; strength?: number; coverage_pct?: number; catalysts?: string[]; values: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string } | null>; trend?: { of: string; values: (number | null)[] }; factors?: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string; percentile: number; weight: number; points: number } | null>; details?: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string } | null> })[]; next_cursor: string | null; history?: { symbol: string; days: number; scores?: ({ day: string; method: string; rank: number | null; score: number | null; strength: number | null; factors: Record<string, number | null> })[]; actions?: ({ kind: 'split' | 'symbol'; date: string; factor?: number | null; from?: string; to?: string; source: string; available_at: string })[]; series: Record<string, ({ as_of: string; source: string; available_at: string; ingested_at: string; revision: number; licence: string; short_volume?: number | null; exempt_volume?: number | null; total_volume?: number | null; position?: number | null; previous_position?: number | null; average_volume?: number | null; days_to_cover?: number | null; quantity?: number | null; price?: number | null; fee_pct?: number | null; rebate_pct?: number | null; available?: number | null; utilisation_pct?: number | null; lending_fee_pct?: number | null; implied_volatility_30d_pct?: number | null; put_call_open_interest?: number | null; close?: number | null; volume?: number | null; split_factor?: number | null })[]> } }
  }
  /** All feeds: columns, sources, licences, freshness, tiers and prices. */
  'matrix.index': {
    input: Record<string, never>
    answer: { data: ({ id: 'squeeze' | 'equities' | 'etf' | 'short-volume' | 'short-interest' | 'ftd' | 'threshold' | 'borrow' | 'halts' | 'institutional'; title: string; cadence: string; columns: { name: string; unit: string; meaning: string; tier: string }[]; sources: { id: string; licence: string }[]; licence: { sold: boolean }; freshness: { as_of: string | null; available_at: string | null; stale: boolean; synthetic: boolean }; tiers: string[]; prices: Record<string, { usd: string }> })[]; coverage: ({ source: string; title: string; publisher: string; licence: string; may_be_shown: boolean; may_be_sold: boolean; fetched: boolean; first: string | null; last: string | null; available_at: string | null; age_seconds: number | null; wanted: number; present: number; missing: string[]; stale: boolean; last_check: { at: string; status: string } | null; fix: string | null })[]; next_cursor: null }
  }
  /** The newest snapshot of a feed, ranked (paid). */
  'matrix.live': {
    input: { params: { feed: string }; query?: { symbol?: string; limit?: string | number; min_score?: string | number; sort?: string; filter?: string; cursor?: string; as_of?: string; screen?: string } }
    answer: { feed: 'squeeze' | 'equities' | 'etf' | 'short-volume' | 'short-interest' | 'ftd' | 'threshold' | 'borrow' | 'halts' | 'institutional'; tier: 'live' | 'vip' | 'delayed'; as_of: string; available_at: string; known_at?: string; data_vintage: string; sha256: string; method: string; coverage_pct: number; row_count: number; ranked_by: string; synthetic: boolean; stale: boolean; next_expected_at: string | null; sources: { source: string; as_of: string; available_at: string; licence: string; attribution: string }[]; left_out: { source: string; reason: string }[]; unranked: Record<string, string>; disclaimer: string; data: ({ rank: number; symbol: string; name: string | null; kind: string; score?: number; strength?: number; coverage_pct?: number; catalysts?: string[]; values: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string } | null>; trend?: { of: string; values: (number | null)[] }; factors?: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string; percentile: number; weight: number; points: number } | null>; details?: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string } | null> })[]; next_cursor: string | null; history?: { symbol: string; days: number; scores?: ({ day: string; method: string; rank: number | null; score: number | null; strength: number | null; factors: Record<string, number | null> })[]; actions?: ({ kind: 'split' | 'symbol'; date: string; factor?: number | null; from?: string; to?: string; source: string; available_at: string })[]; series: Record<string, ({ as_of: string; source: string; available_at: string; ingested_at: string; revision: number; licence: string; short_volume?: number | null; exempt_volume?: number | null; total_volume?: number | null; position?: number | null; previous_position?: number | null; average_volume?: number | null; days_to_cover?: number | null; quantity?: number | null; price?: number | null; fee_pct?: number | null; rebate_pct?: number | null; available?: number | null; utilisation_pct?: number | null; lending_fee_pct?: number | null; implied_volatility_30d_pct?: number | null; put_call_open_interest?: number | null; close?: number | null; volume?: number | null; split_factor?: number | null })[]> } }
  }
  /** How well a feed predicted what followed, on the data this node holds. */
  'matrix.quality': {
    input: { params: { feed: string } }
    answer: { feed: string; status: 'measured' | 'not_measured' | 'pending'; test: Record<string, unknown> }
  }
  /** Saved screens and watchlists of the signing wallet. */
  'matrix.screens.list': {
    input: Record<string, never>
    answer: { data: ({ id: string; name: string; feed: 'squeeze' | 'equities' | 'etf' | 'short-volume' | 'short-interest' | 'ftd' | 'threshold' | 'borrow' | 'halts' | 'institutional' | null; sort: string | null; filter: string | null; min_score: string | null; limit: string | null; symbols: string[]; changed_at: string })[]; next_cursor: null }
  }
  /** Remove a saved screen of the signing wallet. */
  'matrix.screens.remove': {
    input: { body: { id: string } }
    answer: { removed: string }
  }
  /** Save a screen (sort, filter, limit of a feed) or a watchlist (symbols). */
  'matrix.screens.save': {
    input: { body: { name: string; feed?: 'squeeze' | 'equities' | 'etf' | 'short-volume' | 'short-interest' | 'ftd' | 'threshold' | 'borrow' | 'halts' | 'institutional'; sort?: string; filter?: string; min_score?: string; limit?: string; symbols?: string[] } }
    answer: { id: string; name: string; feed: 'squeeze' | 'equities' | 'etf' | 'short-volume' | 'short-interest' | 'ftd' | 'threshold' | 'borrow' | 'halts' | 'institutional' | null; sort: string | null; filter: string | null; min_score: string | null; limit: string | null; symbols: string[]; changed_at: string }
  }
  /** A feed with factor breakdown, history and point-in-time queries (paid). */
  'matrix.vip': {
    input: { params: { feed: string }; query?: { symbol?: string; limit?: string | number; min_score?: string | number; sort?: string; filter?: string; cursor?: string; as_of?: string; screen?: string; method?: 'assay-squeeze-1' | 'assay-squeeze-2'; history?: string | number; alerts?: string; stream?: '1' } }
    answer: { feed: 'squeeze' | 'equities' | 'etf' | 'short-volume' | 'short-interest' | 'ftd' | 'threshold' | 'borrow' | 'halts' | 'institutional'; tier: 'live' | 'vip' | 'delayed'; as_of: string; available_at: string; known_at?: string; data_vintage: string; sha256: string; method: string; coverage_pct: number; row_count: number; ranked_by: string; synthetic: boolean; stale: boolean; next_expected_at: string | null; sources: { source: string; as_of: string; available_at: string; licence: string; attribution: string }[]; left_out: { source: string; reason: string }[]; unranked: Record<string, string>; disclaimer: string; data: ({ rank: number; symbol: string; name: string | null; kind: string; score?: number; strength?: number; coverage_pct?: number; catalysts?: string[]; values: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string } | null>; trend?: { of: string; values: (number | null)[] }; factors?: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string; percentile: number; weight: number; points: number } | null>; details?: Record<string, { value: number | string | boolean; source: string; as_of: string; available_at: string; licence: string } | null> })[]; next_cursor: string | null; history?: { symbol: string; days: number; scores?: ({ day: string; method: string; rank: number | null; score: number | null; strength: number | null; factors: Record<string, number | null> })[]; actions?: ({ kind: 'split' | 'symbol'; date: string; factor?: number | null; from?: string; to?: string; source: string; available_at: string })[]; series: Record<string, ({ as_of: string; source: string; available_at: string; ingested_at: string; revision: number; licence: string; short_volume?: number | null; exempt_volume?: number | null; total_volume?: number | null; position?: number | null; previous_position?: number | null; average_volume?: number | null; days_to_cover?: number | null; quantity?: number | null; price?: number | null; fee_pct?: number | null; rebate_pct?: number | null; available?: number | null; utilisation_pct?: number | null; lending_fee_pct?: number | null; implied_volatility_30d_pct?: number | null; put_call_open_interest?: number | null; close?: number | null; volume?: number | null; split_factor?: number | null })[]> } }
  }
  /** One month of a feed as a file (paid). */
  'matrix.vip.bulk': {
    input: { params: { feed: string; file: string } }
    answer: string
  }
  /** The routes of this node as tools of the Model Context Protocol. */
  'mcp.post': {
    input: { body: { jsonrpc: '2.0' } | { jsonrpc: '2.0' }[] }
    answer: Record<string, unknown>
  }
  /** Join the mesh: a node announces itself, signed with its own key (RFC 9421, tag x402-mesh). */
  'mesh.announce': {
    input: { body: { address: string; statement: string; silent?: string[] } }
    answer: { did: string; address: string; accepted: true; sequence: number }
  }
  /** What buyers signed about nodes: paid calls with their receipts, and prices that contradict a statement. */
  'mesh.evidence': {
    input: { query?: { node?: string; capability?: string; since?: number } }
    answer: { data: ({ evidence: { type: 'x402-mesh-price' | 'x402-mesh-purchase'; node: string; signature: string }; group: string })[]; until_ms: number }
  }
  /** Give evidence about a node: signed by the wallet of the buyer, with the signature of the node inside. */
  'mesh.evidence.give': {
    input: { body: { type: 'x402-mesh-price' | 'x402-mesh-purchase'; node: string; signature: string } }
    answer: { node: string; status: 'taken' | 'known' }
  }
  /** The peers of this node as a Bazaar listing, as A2A cards or as ERC-8004 registration files. */
  'mesh.listing': {
    input: { query: { shape: 'bazaar' | 'a2a' | 'erc8004'; cursor?: string | number } }
    answer: { items: Record<string, unknown>[]; next_cursor: string | null }
  }
  /** This node and the peers it has seen, with prices, health and latency, each in its own signed words. */
  'mesh.manifest': {
    input: { query?: { view?: 'full' | 'brief'; capability?: string; since?: number; page?: number } }
    answer: { protocol: string; generated_at: string; node: { did: string; address: string; base_url: string; name: string; sequence: number; statement: string; resources?: Record<string, { method: string; url: string; example: string; price_micro: string; price_usd: string; price_micro_max?: string; networks: string[] }[]> }; peers: ({ did: string; address: string; sequence: number; state?: 'alive' | 'suspect'; health?: number; latency_ms?: number | null; last_seen_at?: string | null; recommended?: boolean; price_mismatch?: boolean; resources?: Record<string, { method: string; url: string; example: string; price_micro: string; price_usd: string; price_micro_max?: string; networks: string[] }[]>; statement?: string })[]; changed?: { did: string; address: string; sequence: number; statement: string }[]; changed_until?: number; silent?: string[]; evidence_until?: number; agents_until?: number; next_page: string | null; links: { manifest: string; mesh: string; announce: string }; signature: { alg: 'EdDSA'; kid: string; value: string } }
  }
  /** Who offers a capability, over all nodes that this one knows, best first, and why. */
  'mesh.search': {
    input: { query: { capability: string; max_price?: string; network?: string; schema?: string; limit?: string | number; cursor?: string | number } }
    answer: { data: ({ did: string; address: string; method: string; url: string; example_url: string; price_micro: string; price_usd: string; price_seen: boolean; networks: string[]; schema: string | null; recommended: boolean; health: number | null; latency_ms: number | null; evidence: { payers: number; calls: number; disputed: number; price_kept: number; latency_ms: number; success: number }; why: string; statement: string })[]; next_cursor: string | null }
  }
  /** Name a webhook or mail address for notifications; it gets a challenge first. */
  'notifications.endpoints.add': {
    input: { body: { kind: 'webhook' | 'email'; target: string } }
    answer: { wallet: string; plan_until_at: string | null; free_watches: number; endpoints: ({ id: string; kind: 'webhook' | 'email'; target: string; state: 'pending' | 'active' | 'paused'; reason: string; failing_since_at: string | null; last_status: string | null; last_at: string | null; created_at: string })[]; watches: { id: string; endpoint: string; topic: string; subject: string; paused: boolean; created_at: string }[]; deliveries: ({ event: string; endpoint: string; state: 'pending' | 'sent' | 'dead'; attempts: number; last_status: string | null; due_at: string })[]; endpoint: string }
  }
  /** The latest events of a subject as an RSS feed. */
  'notifications.feed': {
    input: { params: { topic: string; subject: string }; query?: { token?: string } }
    answer: string
  }
  /** Endpoints, watches and the latest deliveries of the signing wallet. */
  'notifications.own': {
    input: Record<string, never>
    answer: { wallet: string; plan_until_at: string | null; free_watches: number; endpoints: ({ id: string; kind: 'webhook' | 'email'; target: string; state: 'pending' | 'active' | 'paused'; reason: string; failing_since_at: string | null; last_status: string | null; last_at: string | null; created_at: string })[]; watches: { id: string; endpoint: string; topic: string; subject: string; paused: boolean; created_at: string }[]; deliveries: ({ event: string; endpoint: string; state: 'pending' | 'sent' | 'dead'; attempts: number; last_status: string | null; due_at: string })[] }
  }
  /** Up to 200 watches for the paying wallet, for 30 days (paid). */
  'notifications.plan': {
    input: Record<string, never>
    answer: { wallet: string; plan_until_at: string | null; price_usd: string }
  }
  /** Remove a watch, or an endpoint with all its watches. */
  'notifications.remove': {
    input: { body: { id: string } }
    answer: { wallet: string; plan_until_at: string | null; free_watches: number; endpoints: ({ id: string; kind: 'webhook' | 'email'; target: string; state: 'pending' | 'active' | 'paused'; reason: string; failing_since_at: string | null; last_status: string | null; last_at: string | null; created_at: string })[]; watches: { id: string; endpoint: string; topic: string; subject: string; paused: boolean; created_at: string }[]; deliveries: ({ event: string; endpoint: string; state: 'pending' | 'sent' | 'dead'; attempts: number; last_status: string | null; due_at: string })[] }
  }
  /** Prove an endpoint with the code that was sent to it. */
  'notifications.verify': {
    input: { body: { endpoint: string; code: string } }
    answer: { wallet: string; plan_until_at: string | null; free_watches: number; endpoints: ({ id: string; kind: 'webhook' | 'email'; target: string; state: 'pending' | 'active' | 'paused'; reason: string; failing_since_at: string | null; last_status: string | null; last_at: string | null; created_at: string })[]; watches: { id: string; endpoint: string; topic: string; subject: string; paused: boolean; created_at: string }[]; deliveries: ({ event: string; endpoint: string; state: 'pending' | 'sent' | 'dead'; attempts: number; last_status: string | null; due_at: string })[] }
  }
  /** Subscribe to every event of a subject. */
  'notifications.watches.add': {
    input: { body: { endpoint: string; topic: string; subject: string } }
    answer: { wallet: string; plan_until_at: string | null; free_watches: number; endpoints: ({ id: string; kind: 'webhook' | 'email'; target: string; state: 'pending' | 'active' | 'paused'; reason: string; failing_since_at: string | null; last_status: string | null; last_at: string | null; created_at: string })[]; watches: { id: string; endpoint: string; topic: string; subject: string; paused: boolean; created_at: string }[]; deliveries: ({ event: string; endpoint: string; state: 'pending' | 'sent' | 'dead'; attempts: number; last_status: string | null; due_at: string })[]; watch: string; feed_url: string }
  }
  /** Decide a dispute about a payment, for the operator. */
  'operator.dispute': {
    input: { body: { id: string; refund_usd: string; reason: string } }
    answer: { id: string; state: string; refund_micro: string | null }
  }
  /** Books, payments, payouts, alarms and pauses, for the operator. */
  'operator.overview': {
    input: Record<string, never>
    answer: { at: string; role: 'read' | 'operate' | 'withdraw'; books: { balanced: boolean; accounts: { group: string; kind: string; unit: string; balance: string; accounts: number }[]; differences: number; open_clearing: ({ account: string; balance: string; payment_id: string | null; since_at: string })[] }; payments: { state: string; payments: number; amount_micro: string; oldest_at: string }[]; review_open: number; payouts: ({ id: string; network: string; payee: string; amount_micro: string; purpose: string; state: string; reason: string | null; transaction: string | null; created_at: string })[]; withdrawals: { custody: { network: string; withdrawable_micro: string; balance_micro: string; posted_micro: string; others_micro: string; debts_micro: string; leaving_micro: string; reserved_micro: string; block: string; checked_at: string }[]; destinations: { network: string; address: string }[]; newest: ({ id: string; network: string; to: string; asked_micro: string | null; state: 'asked' | 'paying' | 'refused'; outcome: string | null; requested_by: string; requested_at: string; payout: { id: string; state: string; amount_micro: string; transaction: string | null; reason: string | null } | null })[] }; disputes: { id: string; payment_id: string; payer: string; text: string; evidence_bytes: number; opened_at: string }[]; notifications: { endpoints: { kind: string; state: string; reason: string; endpoints: number }[]; deliveries: ({ kind: string; waiting: number; late_since: string | null; sent_day: number; given_up_day: number })[]; failing: ({ id: string; kind: string; target: string; failing_since: string; last_status: string | null; waiting: number })[] } | null; customers: { payments: number; data: { wallet: string; payments: number; amount_micro: string; failed: number; last_at: string }[] }; alarms: ({ alarm: string; count: number; to_do: string | null })[]; pauses: { name: string; paused: boolean; stops: string; leaves_running: string; reason: string; changed_by: string; changed_at: string }[]; audit: { at: string; actor: string; action: string; subject: string }[] }
  }
  /** Pause or resume a part of the node, such as sales or payouts, for the operator. */
  'operator.pause': {
    input: { body: { name: string; paused: boolean; reason: string } }
    answer: { name: string; paused: boolean; reason: string }
  }
  /** Payments, newest first, by payer, route, state or id, for the operator. */
  'operator.payments': {
    input: { query?: { search?: string; state?: string; limit?: string | number; cursor?: string } }
    answer: { data: ({ id: string; state: string; payer: string; route: string; network: string; amount_micro: string; transaction: string | null; reason: string | null; final: boolean; claimed_at: string })[]; next_cursor: string | null }
  }
  /** Revenue, costs, gross and net per shop and day, for the operator. */
  'operator.revenue': {
    input: { query?: { from?: string; to?: string } }
    answer: { data: { day: string; network: string; shop: string; gross_micro: string; refunds_micro: string; fees_micro: string; affiliates_micro: string; losses_micro: string; net_micro: string; gas_gwei: string }[]; next_cursor: null }
  }
  /** Withdraw the operator's own money from custody. */
  'operator.withdraw': {
    input: { body: { network: string; to: string; amount_usd?: string } }
    answer: { id: string; state: 'asked' }
  }
  /** The process is up. */
  'ops.livez': {
    input: Record<string, never>
    answer: { status: 'ok' }
  }
  /** The node can take payments and answer, check by check. */
  'ops.readyz': {
    input: Record<string, never>
    answer: { status: 'ready'; checks: Record<string, 'ok' | 'failed'>; not_for_sale: { route: string; why: string; detail: string; since: string }[] }
  }
  /** A signed bid of the vault for contracts of a position, valid for 60 seconds. */
  'options.bid': {
    input: { body: { position_id: string; quantity?: number } }
    answer: { bid_id: string; position_id: string; symbol: string; quantity: number; bid_micro: string; bid_usd: string; seconds_left: number; expires_at: string; jws: string; synthetic?: boolean }
  }
  /** Buy a call or a put on a topic cluster; the premium is paid up front and not refundable (paid). */
  'options.buy': {
    input: { body: { symbol: string; quantity?: number; quote_id?: string; wallet?: string } }
    answer: { position_id: string; symbol: string; wallet: string; quantity: number; premium_micro: string; premium_usd: string; most_micro: string; expires_at: string; refundable: false; position_url: string; synthetic?: boolean }
  }
  /** Sell contracts of a position before they expire, at a signed bid of the vault or to orders of the book. */
  'options.close': {
    input: { body: { position_id: string; bid_id?: string; limit_usd?: string; quantity?: number; rest?: boolean } }
    answer: { position_id: string; symbol: string; quantity: number; left: number; waiting: number; paid_micro: string; paid_usd: string; later_micro: string; note: string }
  }
  /** Topic clusters with their demand index and how many option series are listed on each. */
  'options.clusters': {
    input: { query?: { limit?: string | number; cursor?: string } }
    answer: { data: ({ cluster: string; name: string; parent: string | null; tier: number; source: 'iab' | 'operator'; index: string | null; index_at: string | null; agents: number | null; base_at: string | null; base_share_e12: string | null; volatility: number | null; series: number; synthetic?: boolean })[]; next_cursor: string | null }
  }
  /** Volume and open interest of one option series by day, and what it settled at. */
  'options.days': {
    input: { params: { symbol: string } }
    answer: { symbol: string; days: { day: string; contracts: number; premium_micro: string; closed: number; open_interest: number }[]; settlement: { outcome: 'fixed' | 'void'; value: string | null; at: string } | null }
  }
  /** The published figures that moved the indexes, in the order in which they are added up. */
  'options.inputs': {
    input: { query: { after: string; up_to: string; cursor?: string } }
    answer: { data: ({ ends_at: string; starts_at: string; cluster: string; bonded: number | null; event_id: string; synthetic: boolean })[]; next_cursor: string | null }
  }
  /** Order option contracts at a limit; the order waits in the book until it is matched or withdrawn (paid). */
  'options.order': {
    input: { body: { symbol: string; limit_usd: string; quantity?: number; immediate?: boolean } }
    answer: { order_id: string; symbol: string; wallet: string; quantity: number; limit_micro: string; limit_usd: string; paid_micro: string; immediate: boolean; last_trade_at: string; state: 'pending'; note: string; synthetic?: boolean }
  }
  /** What a wallet holds, offers and is owed on the options exchange. */
  'options.positions': {
    input: { params: { wallet: string } }
    answer: { wallet: string; positions: ({ position_id: string; symbol: string; quantity: number; premium_micro: string; most_micro: string; state: 'held' | 'open' | 'closed' | 'settled' | 'voided' | 'revoked'; final: boolean; expires_at: string; payout_micro: string | null; value_micro: string | null; profit_micro: string | null; expiry_profit_micro: string | null; sell: { limit_micro: string; quantity: number } | null; closable_quantity: number; closed_quantity: number; closed_micro: string; synthetic?: boolean })[]; offers: ({ offer_id: string; symbol: string; premium_micro: string; quantity: number; free_quantity: number; sold_quantity: number; collateral_micro: string; state: 'pending' | 'live' | 'closed' | 'revoked' })[]; orders: ({ order_id: string; symbol: string; limit_micro: string; quantity: number; open_quantity: number; immediate: boolean; state: 'pending' | 'live' | 'closed' | 'revoked' })[]; payable_micro: string; payouts: ({ id: string; amount_micro: string; state: string; transaction: string | null })[] }
  }
  /** A signed quote for option contracts, valid for 60 seconds. */
  'options.quote': {
    input: { body: { symbol: string; quantity?: number } }
    answer: { quote_id: string; symbol: string; quantity: number; premium_micro: string; premium_usd: string; size_micro: string; seconds_left: number; expires_at: string; jws: string; synthetic?: boolean }
  }
  /** Option series that are listed, nearest expiry first, with the premium of one contract now. */
  'options.series': {
    input: { query?: { cluster?: string; kind?: 'call' | 'put'; buyable?: 'true' | 'false'; limit?: string | number; cursor?: string } }
    answer: { data: ({ symbol: string; cluster: string; kind: 'call' | 'put'; strike: number; pays_up_to: number; size_micro: string; most_micro: string; last_trade_at: string; expires_at: string; state: 'trading' | 'closed' | 'settling' | 'ended'; premium_micro: string | null; premium_usd: string | null; buyable: boolean; volatility: number; implied_volatility: number | null; greeks: { delta: number; gamma: number; vega: number; theta: number } | null; synthetic?: boolean })[]; next_cursor: string | null }
  }
  /** One option series: greeks, order book, vault, collateral and the history of its index. */
  'options.series.show': {
    input: { params: { symbol: string } }
    answer: { symbol: string; cluster: string; kind: 'call' | 'put'; strike: number; pays_up_to: number; size_micro: string; most_micro: string; last_trade_at: string; expires_at: string; state: 'trading' | 'closed' | 'settling' | 'ended'; premium_micro: string | null; premium_usd: string | null; buyable: boolean; volatility: number; implied_volatility: number | null; greeks: { delta: number; gamma: number; vega: number; theta: number } | null; synthetic?: boolean; index: string | null; index_at: string | null; model_micro: string | null; priced_at: string; book: { premium_micro: string; quantity: number; offers: number }[]; bids: { premium_micro: string; quantity: number; orders: number }[]; resales: { premium_micro: string; quantity: number; orders: number }[]; vault: { premium_micro: string; quantity: number } | null; open_interest: number; open_interest_micro_per_point: string; side_limit_micro_per_point: string; agent_cost_micro: string; collateral_micro: string; history: ({ at: string; index: string; agents: number | null })[]; settlement: string | null; method: { tick_ms: number; decay_ppb: number; lookback: number; base_share_e12: string | null; time_scale: number } }
  }
  /** Settled and voided option series, newest first, each with all that is needed to replay it. */
  'options.settlements': {
    input: { query?: { limit?: string | number; cursor?: string } }
    answer: { data: ({ symbol: string; outcome: 'fixed' | 'void'; value: string | null; payoff_micro: string | null; reason: string | null; decided_at: string; contracts: number; paid_micro: string; document: { type: string; symbol: string; cluster: string; kind: 'C' | 'P'; strike: number; width: number; size_micro: string; expires_at: string; outcome: 'fixed' | 'void'; value?: string; payoff_micro?: string; reason?: string; extensions: number; index: { name: string; tick_ms: number; decay_ppb: number; lookback: number }; base_share_e12: string; rules: { window_ms: number; agents_min: number; extensions_max: number }; inputs_after: string; inputs_up_to: string; inputs_sha256: string; synthetic?: boolean }; jws: string; inputs_url: string })[]; next_cursor: string | null }
  }
  /** How one series was settled: value, payoff, signed document and where its inputs are. */
  'options.settlements.show': {
    input: { params: { symbol: string } }
    answer: { symbol: string; outcome: 'fixed' | 'void'; value: string | null; payoff_micro: string | null; reason: string | null; decided_at: string; contracts: number; paid_micro: string; document: { type: string; symbol: string; cluster: string; kind: 'C' | 'P'; strike: number; width: number; size_micro: string; expires_at: string; outcome: 'fixed' | 'void'; value?: string; payoff_micro?: string; reason?: string; extensions: number; index: { name: string; tick_ms: number; decay_ppb: number; lookback: number }; base_share_e12: string; rules: { window_ms: number; agents_min: number; extensions_max: number }; inputs_after: string; inputs_up_to: string; inputs_sha256: string; synthetic?: boolean }; jws: string; inputs_url: string }
  }
  /** What was traded on the options exchange, newest first, or as it happens. */
  'options.trades': {
    input: { query?: { symbol?: string; limit?: string | number; cursor?: string } }
    answer: { data: ({ trade_id: string; at: string; symbol: string; kind: 'sale' | 'close' | 'revoked'; position_id: string; quantity: number; total_micro: string | null })[]; next_cursor: string | null }
  }
  /** The operator’s vault: what it quotes, what it holds, its profit and limits, and why it sells nothing. */
  'options.vault': {
    input: Record<string, never>
    answer: { state: 'quoting' | 'off' | 'not_funded' | 'used_up' | 'no_series'; reason: string; capital_micro: string; limit_micro: string; used_micro: string; free_micro: string; realised_micro: string; quotes: { symbol: string; ask_micro: string; quantity: number; bid_micro: string }[]; inventory: ({ symbol: string; contracts: number; premium_micro: string; locked_micro: string; profit_micro: string | null })[] }
  }
  /** Withdraw the collateral of contracts that nobody bought, or an order to buy or to sell. */
  'options.withdraw': {
    input: { body: { offer_id: string; quantity?: number } }
    answer: { offer_id: string; symbol: string; quantity: number; left: number; returned_micro: string; note: string }
  }
  /** Write option contracts: post their full collateral and offer them at your premium (paid). */
  'options.write': {
    input: { body: { symbol: string; premium_usd: string; quantity?: number; immediate?: boolean } }
    answer: { offer_id: string; symbol: string; wallet: string; quantity: number; premium_micro: string; premium_usd: string; collateral_micro: string; most_micro: string; expires_at: string; state: 'pending'; note: string; synthetic?: boolean }
  }
  /** Say that a paid answer is wrong, and ask for the money back. */
  'payments.dispute': {
    input: { params: { id: string }; body: { text: string; evidence?: { media_type: string; base64: string } } }
    answer: { id: string; payment_id: string; payer: string; state: 'open' | 'accepted' | 'rejected'; text: string; evidence_bytes: number; opened_at: string; refund_micro: string | null; decision: string | null; decided_at: string | null }
  }
  /** The dispute about a payment, for its payer. */
  'payments.dispute.show': {
    input: { params: { id: string } }
    answer: { id: string; payment_id: string; payer: string; state: 'open' | 'accepted' | 'rejected'; text: string; evidence_bytes: number; opened_at: string; refund_micro: string | null; decision: string | null; decided_at: string | null }
  }
  /** Status of a payment. */
  'payments.status': {
    input: { params: { id: string } }
    answer: { id: string; state: 'claimed' | 'settling' | 'unknown' | 'settled' | 'served' | 'failed' | 'released' | 'credited' | 'refunded'; next: 'wait' | 'resend' | 'pay_again' | 'done'; network: string; amount_micro: string; transaction: string | null; final: boolean; provisional: boolean; claimed_at: string; settled_at: string | null; other_transfers: ({ transaction: string; amount_micro: string; posted_as: string | null })[]; dispute: { id: string; state: 'open' | 'accepted' | 'rejected'; refund_micro: string | null; decision: string | null; decided_at: string | null } | null }
  }
  /** What an affiliate earned, what is pending, payable and paid, with transactions. */
  'rewards.affiliate': {
    input: { params: { wallet: string } }
    answer: { wallet: string; rate: number; rate_of: string; earned_micro: string; pending_micro: string; payable_micro: string; paid_micro: string; owed_back_micro: string; earned_usd: string; sales: number; link: string; chains: { network: string; earned_micro: string; pending_micro: string; payable_micro: string; paid_micro: string }[]; payouts: ({ id: string; network: string; amount_micro: string; state: string; waits_for: 'approval' | 'daily_limit' | 'operator_funds' | null; transaction: string | null; created_at: string; paid_at: string | null })[] }
  }
  /** Points, tier and referral link of a wallet, and what it can redeem. */
  'rewards.loyalty': {
    input: { params: { wallet: string } }
    answer: { wallet: string; points: string; pending_points: string; tier: 'BRONZE' | 'SILVER' | 'GOLD' | 'PLATINUM'; points_per_usd: string; spent_usd: string; spent_micro: string; sales: number; next_tier: { name: string; needs_usd: string; points_per_usd: string } | null; referral: { link: string; referred: number; visits: number; referred_by: { wallet: string; status: string; reason: string | null } | null }; affiliate: { wallet: string | null; ignored_reason: string | null } | null; redeemable: { reward: string; what: string; points: string; calls: number }[]; history: { at: string; what: string; points: string }[] }
  }
  /** Burn points for a pass that paid routes accept in place of payment. */
  'rewards.redeem': {
    input: { body: { wallet: string; points: string; reward: string; nonce: string; issued_at: string; expires_at: string; signature: string; scheme?: 'eip712' | 'eip191'; chain_id?: string } }
    answer: { pass: { id: string; token: string | null; reward: string; calls: number; max_price_usd: string; expires_at: string }; points: string; balance: string }
  }
  /** What points are worth, and what to sign to redeem them. */
  'rewards.redeem_info': {
    input: { query?: { wallet?: string; reward?: string; points?: string | number; chain_id?: string } }
    answer: { rates: { tier: string; from_usd: string; points_per_usd: string }[]; rewards: { id: string; what: string; points: string; max_price_usd: string }[]; how: { post: string; domain: unknown; types: unknown; primary_type: string; schemes: string[]; chains: string[]; seconds: number }; balance?: string; pending?: string; sign?: { nonce: string; issued_at: string; expires_at: string; typed_data: unknown; message: string } }
  }
  /** The royalty declared on a sale of what is made from our answers, like royaltyInfo of EIP-2981. */
  'royalties.info': {
    input: { query: { sale_price: string | number } }
    answer: { receiver: string; royalty_amount: string; bps: number; network: string; contract: string; remit: string }
  }
  /** Remit 2.5 % of a sale, linked to the attestation, remittance or payment it was made from (paid). */
  'royalties.remit': {
    input: { body: { parent: string; sale_price_micro: string } }
    answer: { id: string; url: string; royalty_micro: string; record: { parent: string } }
  }
  /** One remittance: what it was made from, what was remitted for what was made from it. */
  'royalties.show': {
    input: { params: { id: string } }
    answer: { id: string; url: string; royalty_micro: string; record: { parent: string } }
  }
  /** Echo a text, to try paying (paid). */
  'sandbox.echo.get': {
    input: { query?: { message?: string } }
    answer: { echo: string; paid_by: string; payment_id: string; at: string }
  }
  /** Echo a JSON message, to try paying for a request with a body (paid). */
  'sandbox.echo.post': {
    input: { body: { message?: string } }
    answer: { echo: string; paid_by: string; payment_id: string; at: string }
  }
  /** Count characters, to try paying for what was used (paid). */
  'sandbox.meter': {
    input: { query?: { text?: string } }
    answer: { characters: number; charge_micro: string }
  }
  /** Contest a source, its score or its owner, with evidence. */
  'sources.dispute': {
    input: { params: { domain: string }; body: { kind: 'ownership' | 'content' | 'licence' | 'score' | 'other'; statement: string; evidence_url?: string; contact?: string } }
    answer: { id: string; domain: string; kind: string; state: 'received'; opened_at: string; note: string }
  }
  /** Registered sources, best CiteScore first. */
  'sources.list': {
    input: { query?: { state?: 'registered' | 'proving' | 'proven' | 'disputed' | 'held' | 'refused'; score_min?: string | number; search?: string; limit?: string | number; cursor?: string } }
    answer: { data: ({ domain: string; display: string; registrable_domain: string; origin: string; state: 'registered' | 'proving' | 'proven' | 'disputed' | 'held' | 'refused'; state_reason: string; cite_score: number | null; confidence: number | null; registered_at: string; updated_at: string; synthetic: boolean })[]; next_cursor: string | null }
  }
  /** Register a domain to be cited and paid for it, free of charge. */
  'sources.register': {
    input: { body: { domain: string; wallet: string; contact?: string; sitemap?: string } }
    answer: { domain: string; display: string; registrable_domain: string; origin: string; state: 'registered' | 'proving' | 'proven' | 'disputed' | 'held' | 'refused'; state_reason: string; cite_score: number | null; confidence: number | null; registered_at: string; updated_at: string; synthetic: boolean; homograph?: { kind: string; looks_like: string | null }; next_steps: ({ step: string; state: 'done' | 'missing' | 'waiting'; fix: string })[]; proof: { method: string | null; proven_at: string | null; next_check_at: string | null; failures: number; evidence: Record<string, unknown> | null } | null; payout: { state: 'unproven' | 'awaiting_wallet_signature' | 'active' | 'held'; wallet: string | null }; claim: { id: string; state: string; wallet: string; token_expires_at: string | null; takes_over_at: string | null; prove: { dns: { record: 'TXT'; name: string; value: string }; file: { url: string; content_type: 'application/json'; content: Record<string, unknown> }; meta: { url: string; html: string } }; wallet_proven: boolean; wallet_statement: Record<string, unknown>; checked_at: string | null; report: Record<string, unknown> | null } | null; score: { value: number; confidence: number; model_version: string; computed_at: string; components: ({ id: string; value: number; weight: number; known: number; signals: ({ id: string; weight: number; value: number | null; prior: number; known: boolean })[]; evidence: ({ what: string; url: string; sha256: string | null; checked_at: string | null })[] })[]; gate: { value: number; reason: string }; evidence_count: number; advice: { component: string; signal: string; advice: string; points: number }[]; history: { seq: number; score: number; computed_at: string; model_version: string; jws: string }[] } | null; crawl: { pages_indexed: number; pages_known: number; finished_at: string | null; problem: string | null; problems: { problem: string; pages: number; example: string }[]; robots: string; sitemap: string }; terms: { offered: number; link_only: number; not_indexed: number; reasons: { reason: string; pages: number; example: string }[] }; licence: { kind: string; name: string | null; url: string; permits: string[]; prohibits: string[]; payment: string[] } | null; earnings: { citations: number; earned_micro: string; paid_micro: string }; disputes: ({ id: string; kind: string; state: string; opened_at: string; notice_until: string | null })[]; links: { self: string; verify: string } }
  }
  /** One source: state, proof, CiteScore with its evidence, licence, earnings. */
  'sources.show': {
    input: { params: { domain: string }; query?: { wallet?: string } }
    answer: { domain: string; display: string; registrable_domain: string; origin: string; state: 'registered' | 'proving' | 'proven' | 'disputed' | 'held' | 'refused'; state_reason: string; cite_score: number | null; confidence: number | null; registered_at: string; updated_at: string; synthetic: boolean; homograph?: { kind: string; looks_like: string | null }; next_steps: ({ step: string; state: 'done' | 'missing' | 'waiting'; fix: string })[]; proof: { method: string | null; proven_at: string | null; next_check_at: string | null; failures: number; evidence: Record<string, unknown> | null } | null; payout: { state: 'unproven' | 'awaiting_wallet_signature' | 'active' | 'held'; wallet: string | null }; claim: { id: string; state: string; wallet: string; token_expires_at: string | null; takes_over_at: string | null; prove: { dns: { record: 'TXT'; name: string; value: string }; file: { url: string; content_type: 'application/json'; content: Record<string, unknown> }; meta: { url: string; html: string } }; wallet_proven: boolean; wallet_statement: Record<string, unknown>; checked_at: string | null; report: Record<string, unknown> | null } | null; score: { value: number; confidence: number; model_version: string; computed_at: string; components: ({ id: string; value: number; weight: number; known: number; signals: ({ id: string; weight: number; value: number | null; prior: number; known: boolean })[]; evidence: ({ what: string; url: string; sha256: string | null; checked_at: string | null })[] })[]; gate: { value: number; reason: string }; evidence_count: number; advice: { component: string; signal: string; advice: string; points: number }[]; history: { seq: number; score: number; computed_at: string; model_version: string; jws: string }[] } | null; crawl: { pages_indexed: number; pages_known: number; finished_at: string | null; problem: string | null; problems: { problem: string; pages: number; example: string }[]; robots: string; sitemap: string }; terms: { offered: number; link_only: number; not_indexed: number; reasons: { reason: string; pages: number; example: string }[] }; licence: { kind: string; name: string | null; url: string; permits: string[]; prohibits: string[]; payment: string[] } | null; earnings: { citations: number; earned_micro: string; paid_micro: string }; disputes: ({ id: string; kind: string; state: string; opened_at: string; notice_until: string | null })[]; links: { self: string; verify: string } }
  }
  /** What the creator of a site allows and asks for, by path, with its history. */
  'sources.terms': {
    input: { params: { domain: string } }
    answer: { domain: string; rules: ({ path: string; crawl: boolean; snippet: boolean; attest: boolean; attest_micro: string; content: boolean; content_micro: string | null })[]; rsl_url: string; robots_line: string; history: ({ seq: number; set_at: string; set_by: string; rules: ({ path: string; crawl: boolean; snippet: boolean; attest: boolean; attest_micro: string; content: boolean; content_micro: string | null })[] })[] }
  }
  /** The terms of a creator as an RSL 1.0 document. */
  'sources.terms.rsl': {
    input: { params: { domain: string } }
    answer: string
  }
  /** Set what may be done with the pages of a proven domain, and what it costs, by path. */
  'sources.terms.set': {
    input: { params: { domain: string }; body: { rules: { path: string; crawl?: boolean; snippet?: boolean; attest?: boolean; attest_usd?: string; content?: boolean; content_usd?: string }[] } }
    answer: { domain: string; rules: ({ path: string; crawl: boolean; snippet: boolean; attest: boolean; attest_micro: string; content: boolean; content_micro: string | null })[]; rsl_url: string; robots_line: string; history: ({ seq: number; set_at: string; set_by: string; rules: ({ path: string; crawl: boolean; snippet: boolean; attest: boolean; attest_micro: string; content: boolean; content_micro: string | null })[] })[] }
  }
  /** Look at the domain now: proof, pages and score. */
  'sources.verify': {
    input: { params: { domain: string }; body: { wallet?: string; wallet_signature?: string } }
    answer: { domain: string; display: string; registrable_domain: string; origin: string; state: 'registered' | 'proving' | 'proven' | 'disputed' | 'held' | 'refused'; state_reason: string; cite_score: number | null; confidence: number | null; registered_at: string; updated_at: string; synthetic: boolean; homograph?: { kind: string; looks_like: string | null }; next_steps: ({ step: string; state: 'done' | 'missing' | 'waiting'; fix: string })[]; proof: { method: string | null; proven_at: string | null; next_check_at: string | null; failures: number; evidence: Record<string, unknown> | null } | null; payout: { state: 'unproven' | 'awaiting_wallet_signature' | 'active' | 'held'; wallet: string | null }; claim: { id: string; state: string; wallet: string; token_expires_at: string | null; takes_over_at: string | null; prove: { dns: { record: 'TXT'; name: string; value: string }; file: { url: string; content_type: 'application/json'; content: Record<string, unknown> }; meta: { url: string; html: string } }; wallet_proven: boolean; wallet_statement: Record<string, unknown>; checked_at: string | null; report: Record<string, unknown> | null } | null; score: { value: number; confidence: number; model_version: string; computed_at: string; components: ({ id: string; value: number; weight: number; known: number; signals: ({ id: string; weight: number; value: number | null; prior: number; known: boolean })[]; evidence: ({ what: string; url: string; sha256: string | null; checked_at: string | null })[] })[]; gate: { value: number; reason: string }; evidence_count: number; advice: { component: string; signal: string; advice: string; points: number }[]; history: { seq: number; score: number; computed_at: string; model_version: string; jws: string }[] } | null; crawl: { pages_indexed: number; pages_known: number; finished_at: string | null; problem: string | null; problems: { problem: string; pages: number; example: string }[]; robots: string; sitemap: string }; terms: { offered: number; link_only: number; not_indexed: number; reasons: { reason: string; pages: number; example: string }[] }; licence: { kind: string; name: string | null; url: string; permits: string[]; prohibits: string[]; payment: string[] } | null; earnings: { citations: number; earned_micro: string; paid_micro: string }; disputes: ({ id: string; kind: string; state: string; opened_at: string; notice_until: string | null })[]; links: { self: string; verify: string } }
  }
  /** Change the payout wallet of a proven domain. */
  'sources.wallet': {
    input: { params: { domain: string }; body: { wallet: string; contact?: string } }
    answer: { domain: string; display: string; registrable_domain: string; origin: string; state: 'registered' | 'proving' | 'proven' | 'disputed' | 'held' | 'refused'; state_reason: string; cite_score: number | null; confidence: number | null; registered_at: string; updated_at: string; synthetic: boolean; homograph?: { kind: string; looks_like: string | null }; next_steps: ({ step: string; state: 'done' | 'missing' | 'waiting'; fix: string })[]; proof: { method: string | null; proven_at: string | null; next_check_at: string | null; failures: number; evidence: Record<string, unknown> | null } | null; payout: { state: 'unproven' | 'awaiting_wallet_signature' | 'active' | 'held'; wallet: string | null }; claim: { id: string; state: string; wallet: string; token_expires_at: string | null; takes_over_at: string | null; prove: { dns: { record: 'TXT'; name: string; value: string }; file: { url: string; content_type: 'application/json'; content: Record<string, unknown> }; meta: { url: string; html: string } }; wallet_proven: boolean; wallet_statement: Record<string, unknown>; checked_at: string | null; report: Record<string, unknown> | null } | null; score: { value: number; confidence: number; model_version: string; computed_at: string; components: ({ id: string; value: number; weight: number; known: number; signals: ({ id: string; weight: number; value: number | null; prior: number; known: boolean })[]; evidence: ({ what: string; url: string; sha256: string | null; checked_at: string | null })[] })[]; gate: { value: number; reason: string }; evidence_count: number; advice: { component: string; signal: string; advice: string; points: number }[]; history: { seq: number; score: number; computed_at: string; model_version: string; jws: string }[] } | null; crawl: { pages_indexed: number; pages_known: number; finished_at: string | null; problem: string | null; problems: { problem: string; pages: number; example: string }[]; robots: string; sitemap: string }; terms: { offered: number; link_only: number; not_indexed: number; reasons: { reason: string; pages: number; example: string }[] }; licence: { kind: string; name: string | null; url: string; permits: string[]; prohibits: string[]; payment: string[] } | null; earnings: { citations: number; earned_micro: string; paid_micro: string }; disputes: ({ id: string; kind: string; state: string; opened_at: string; notice_until: string | null })[]; links: { self: string; verify: string } }
  }
  /** End the subscription at the end of what is paid for. */
  'subscriptions.cancel': {
    input: { query?: { product?: 'feeds' | 'stream' } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; renewal: { on: boolean; tier: string; mandate: string; max_price_micro: string; next_at: string | null; problem: string | null } | null }
  }
  /** All subscriptions of a wallet: feed tiers and the intent stream. */
  'subscriptions.list': {
    input: Record<string, never>
    answer: { data: ({ product: 'feeds' | 'stream'; subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; active: boolean; ends_in_days: number; used_today: number | null; covers: string[]; renew_at: string; renewal: { on: boolean; tier: string; mandate: string; max_price_micro: string; next_at: string | null; problem: string | null } | null; upgrade_price_micro: string | null })[]; fair_use: { pulls_per_minute: number; pulls_per_day: number }; next_cursor: null }
  }
  /** Pause the subscription: it opens nothing, and its time does not run. */
  'subscriptions.pause': {
    input: { query?: { product?: 'feeds' | 'stream' } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; renewal: { on: boolean; tier: string; mandate: string; max_price_micro: string; next_at: string | null; problem: string | null } | null }
  }
  /** What subscriptions cost, what they open, and the fair-use limits. */
  'subscriptions.plans': {
    input: Record<string, never>
    answer: { data: ({ tier: 'standard' | 'vip'; price_usd: string; price_micro: string; days: number; base: string; polygon: string; covers: string[] })[]; feeds: ({ feed: string; as_of: string | null; available_at: string | null; coverage_pct: number | null; missing: string[]; not_available: string | null })[]; next_cursor: null; fair_use: { pulls_per_minute: number; pulls_per_day: number }; renewal: { delegate: string; routes: string[] } }
  }
  /** Renew from credit, under a mandate of the signing wallet. */
  'subscriptions.renewal': {
    input: { query?: { product?: 'feeds' | 'stream' }; body: { mandate: string; max_price_micro?: string } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; renewal: { on: boolean; tier: string; mandate: string; max_price_micro: string; next_at: string | null; problem: string | null } | null }
  }
  /** Resume a paused subscription. */
  'subscriptions.resume': {
    input: { query?: { product?: 'feeds' | 'stream' } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; renewal: { on: boolean; tier: string; mandate: string; max_price_micro: string; next_at: string | null; problem: string | null } | null }
  }
  /** End the token of the signing wallet; the subscription itself goes on. */
  'subscriptions.revoke': {
    input: { query?: { product?: 'feeds' | 'stream' } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; token: null }
  }
  /** A new token for the subscription of the signing wallet; the old one ends at once. */
  'subscriptions.rotate': {
    input: { query?: { product?: 'feeds' | 'stream' } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; token: string }
  }
  /** Subscribe to the standard feeds for 30 days, paid on Base (paid). */
  'subscriptions.standard.base': {
    input: Record<string, never>
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; token: string | null; receipt: string | null }
  }
  /** Subscribe to the standard feeds for 30 days, paid on Polygon (paid). */
  'subscriptions.standard.polygon': {
    input: Record<string, never>
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; token: string | null; receipt: string | null }
  }
  /** The subscription behind a token or a signed challenge. */
  'subscriptions.status': {
    input: { query?: { product?: 'feeds' | 'stream' } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; active: boolean; used: { this_minute: number; today: number }; fair_use: { pulls_per_minute: number; pulls_per_day: number } }
  }
  /** Change a standard subscription to vip for the difference of the time that is left. */
  'subscriptions.upgrade': {
    input: { body: { max_price_micro: string } }
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; renewal: { on: boolean; tier: string; mandate: string; max_price_micro: string; next_at: string | null; problem: string | null } | null; price_micro: string }
  }
  /** Subscribe to the vip feeds for 30 days, paid on Base (paid). */
  'subscriptions.vip.base': {
    input: Record<string, never>
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; token: string | null; receipt: string | null }
  }
  /** Subscribe to the vip feeds for 30 days, paid on Polygon (paid). */
  'subscriptions.vip.polygon': {
    input: Record<string, never>
    answer: { subscription: { tier: 'standard' | 'vip' | 'stream'; chain?: string; price_usd: string; asset: 'USDC'; wallet: string; from_at: string; until_at: string; extended_seconds?: number; paused_at?: string; provisional?: boolean }; token: string | null; receipt: string | null }
  }
  /** The verdict on a B20 token as an SVG image. */
  'tokens.badge': {
    input: { params: { address: string } }
    answer: string
  }
  /** What changes in the control of a B20 token, as it happens. */
  'tokens.changes': {
    input: { params: { address: string }; query?: { since?: string | number } }
    answer: { data: { specversion: '1.0'; id: string; source: string; type: string; subject: string; datacontenttype: 'application/json'; data: Record<string, unknown>; signature: string }[]; next_cursor: string | null }
  }
  /** Changes of who controls B20 tokens, all tokens or one, newest first. */
  'tokens.changes.all': {
    input: { query?: { token?: string; limit?: string | number; cursor?: string | number } }
    answer: { data: ({ id: string; token: string; kind: string; text: string; block_number: string; block_hash: string; transaction: string | null; verdict_before: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN' | null; verdict_after: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'; published_at: string })[]; next_cursor: string | null }
  }
  /** Who controls this B20 token: verdict, powers and flags. */
  'tokens.check': {
    input: { params: { address: string }; query?: { wallet?: string; block?: string | number } }
    answer: { address: string; network: string; synthetic?: true; verdict: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'; summary: string; complete: boolean; token: { name: string | { unknown: string }; symbol: string | { unknown: string }; decimals: number | { unknown: string }; variant: string; total_supply: string | { unknown: string }; supply_cap: string | { unknown: string } }; powers: { admin: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; mint: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; seize: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; burn_blocked: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; freeze: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; pause: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; unpause: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; supply_cap: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; metadata: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; multiplier: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string } }; flags: ({ code: string; severity: 'info' | 'notice' | 'warning' | 'critical'; sentence: string; facts: string[] })[]; unreachable: ({ account: string; reason: 'zero_address' | 'this_token' | 'another_token' | 'factory' | 'registry'; holds: string[] })[]; block: { number: string; hash: string; at: string }; fork: { name: string | { unknown: string }; identified_by: { seize_role: string; inverted_policy_id: string }; scheduled: string | null; mismatch: boolean }; completeness: { complete: boolean; missing: { code: string; detail: string }[]; admin_set: 'proven' | 'unproven'; admin_count: string | { unknown: string }; logs: { from_block: string; to_block: string; count: number; gaps: { from_block: string; to_block: string; reason: string }[] } }; valid_until_at: string; reading: { providers: string[]; quorum: number; round_trips: Record<string, number>; index_to_block: string | null }; report: { url: string; price_usd: string }; wallet?: { wallet: string; balance: string | { unknown: string }; hold: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }; send: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }; receive: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }; be_frozen: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }; be_seized: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string } } }
  }
  /** Check up to 100 B20 tokens at one block. */
  'tokens.check_batch': {
    input: { body: { addresses: string[]; wallet?: string } }
    answer: { block: { number: string; hash: string; at: string }; data: ({ address: string; network: string; synthetic?: true; verdict: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'; summary: string; complete: boolean; token: { name: string | { unknown: string }; symbol: string | { unknown: string }; decimals: number | { unknown: string }; variant: string; total_supply: string | { unknown: string }; supply_cap: string | { unknown: string } }; powers: { admin: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; mint: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; seize: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; burn_blocked: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; freeze: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; pause: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; unpause: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; supply_cap: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; metadata: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; multiplier: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string } }; flags: ({ code: string; severity: 'info' | 'notice' | 'warning' | 'critical'; sentence: string; facts: string[] })[]; unreachable: ({ account: string; reason: 'zero_address' | 'this_token' | 'another_token' | 'factory' | 'registry'; holds: string[] })[]; block: { number: string; hash: string; at: string }; fork: { name: string | { unknown: string }; identified_by: { seize_role: string; inverted_policy_id: string }; scheduled: string | null; mismatch: boolean }; completeness: { complete: boolean; missing: { code: string; detail: string }[]; admin_set: 'proven' | 'unproven'; admin_count: string | { unknown: string }; logs: { from_block: string; to_block: string; count: number; gaps: { from_block: string; to_block: string; reason: string }[] } }; valid_until_at: string; reading: { providers: string[]; quorum: number; round_trips: Record<string, number>; index_to_block: string | null }; report: { url: string; price_usd: string }; wallet?: { wallet: string; balance: string | { unknown: string }; hold: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }; send: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }; receive: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }; be_frozen: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string }; be_seized: { answer: 'yes' | 'later' | 'no' | 'unknown'; why: string } } } | { address: string; problem: Record<string, unknown> })[]; next_cursor: null }
  }
  /** What changed in the control of a B20 token between two blocks. */
  'tokens.diff': {
    input: { params: { address: string }; query: { from: string | number; to?: string | number } }
    answer: { address: string; network: string; synthetic?: true; from: { block: { number: string; hash: string; at: string }; verdict: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'; complete: boolean }; to: { block: { number: string; hash: string; at: string }; verdict: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'; complete: boolean }; changes: { field: string; before: unknown; after: unknown }[]; events: Record<string, unknown>[] }
  }
  /** All B20 tokens with the verdict last read, newest first. */
  'tokens.list': {
    input: { query?: { verdict?: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'; limit?: string | number; cursor?: string } }
    answer: { network: string; synthetic?: true; data: ({ address: string; name: string | null; symbol: string | null; verdict: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN' | null; complete: boolean | null; verdict_block_number: string | null; verdict_at: string | null; created_block_number: string; created_transaction: string; changed_block_number: string })[]; next_cursor: string | null; index: { to_block_number: string | null; behind_blocks: string | null; updated_at: string | null } }
  }
  /** Full report on who controls a B20 token, with evidence and an attestation (paid). */
  'tokens.report': {
    input: { params: { address: string }; query?: { proof?: '0' | '1' } }
    answer: { format: 'assay-b20-report'; version: 1; address: string; chain_id: number; network: string; verdict: 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'; summary: string; complete: boolean; block: { number: string; hash: string; at: string; state_root: string }; fork: { name: string | { unknown: string }; identified_by: { seize_role: string; inverted_policy_id: string }; scheduled: string | null; mismatch: boolean }; valid_until_at: string; supply: Record<string, unknown>; powers: { admin: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; mint: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; seize: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; burn_blocked: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; freeze: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; pause: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; unpause: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; supply_cap: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; metadata: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string }; multiplier: { state: 'impossible' | 'latent' | 'armed' | 'exercised' | 'unknown'; now: 'impossible' | 'latent' | 'armed' | 'unknown'; exercised: number; who: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; who_count: number; could_become: { account: string; how: string; alone?: boolean; label: { kind: string; threshold?: number; owners?: string[] } }[]; could_become_count: number; why: string } }; flags: ({ code: string; severity: 'info' | 'notice' | 'warning' | 'critical'; sentence: string; facts: string[] })[]; unreachable: ({ account: string; reason: 'zero_address' | 'this_token' | 'another_token' | 'factory' | 'registry'; holds: string[] })[]; roles: Record<string, unknown>[]; scopes: Record<string, unknown>[]; policies: Record<string, unknown>[]; seize_paths: Record<string, unknown>[]; genesis: Record<string, unknown> | null; history: Record<string, unknown>[]; questions: string[]; completeness: { complete: boolean; missing: { code: string; detail: string }[]; admin_set: 'proven' | 'unproven'; admin_count: string | { unknown: string }; logs: { from_block: string; to_block: string; count: number; gaps: { from_block: string; to_block: string; reason: string }[] } }; attestation: Record<string, unknown>; proof?: Record<string, unknown> }
  }
  /** USDC of a wallet on each chain that this node takes money on. */
  'wallet.balances': {
    input: { params: { wallet: string } }
    answer: { wallet: string; data: ({ network: string; asset: string; balance_micro: string | null })[]; next_cursor: null }
  }
  /** The newest payments of the wallet that signed the request. */
  'wallet.payments': {
    input: { query?: { limit?: string | number; cursor?: string } }
    answer: { data: ({ id: string; state: string; route: string; network: string; amount_micro: string; transaction: string | null; final: boolean; claimed_at: string })[]; next_cursor: string | null }
  }
}

/** How each is reached. */
export const operations = {
  'agents.capabilities.declare': { method: 'PUT', path: '/v1/agents/{did}/capabilities', paid: false },
  'agents.capabilities.history': { method: 'GET', path: '/v1/agents/{did}/capabilities', paid: false },
  'agents.capabilities.revoke': { method: 'DELETE', path: '/v1/agents/{did}/capabilities', paid: false },
  'agents.card': { method: 'GET', path: '/v1/agents/{did}/agent-card.json', paid: false },
  'agents.deactivate': { method: 'DELETE', path: '/v1/agents/{did}', paid: false },
  'agents.declarations': { method: 'GET', path: '/v1/agent-declarations', paid: false },
  'agents.declarations.give': { method: 'POST', path: '/v1/agent-declarations', paid: false },
  'agents.search': { method: 'GET', path: '/v1/agents', paid: false },
  'agents.show': { method: 'GET', path: '/v1/agents/{did}', paid: false },
  'attestations.show': { method: 'GET', path: '/v1/attestations/{id}', paid: false },
  'auth.challenge': { method: 'POST', path: '/v1/auth/challenge', paid: false },
  'auth.check': { method: 'POST', path: '/v1/auth/check', paid: false },
  'auth.session': { method: 'POST', path: '/v1/auth/session', paid: false },
  'auth.whoami': { method: 'GET', path: '/v1/auth/session', paid: false },
  'citations.match': { method: 'POST', path: '/v1/match', paid: true },
  'cite.attest': { method: 'POST', path: '/v1/cite/attest', paid: true },
  'claims.anchor': { method: 'POST', path: '/v1/claims/anchor', paid: true },
  'creators.earnings': { method: 'GET', path: '/v1/creators/{wallet}/earnings', paid: false },
  'creators.epoch': { method: 'GET', path: '/v1/creators/epochs/{network}/{epoch}', paid: false },
  'creators.move': { method: 'POST', path: '/v1/sources/{domain}/move', paid: false },
  'creators.show': { method: 'GET', path: '/v1/creators/{wallet}', paid: false },
  'creators.threshold': { method: 'POST', path: '/v1/creators/{wallet}/threshold', paid: false },
  'credit.balance': { method: 'GET', path: '/v1/credit/{wallet}', paid: false },
  'credit.bond': { method: 'POST', path: '/v1/credit/bond', paid: false },
  'credit.bond.release': { method: 'POST', path: '/v1/credit/bond/release', paid: false },
  'credit.bonds': { method: 'GET', path: '/v1/credit/{wallet}/bonds', paid: false },
  'credit.refund': { method: 'POST', path: '/v1/credit/refund', paid: false },
  'credit.topup': { method: 'GET', path: '/v1/credit/topup', paid: true },
  'credit.topup.post': { method: 'POST', path: '/v1/credit/topup', paid: true },
  'did.identifiers': { method: 'GET', path: '/1.0/identifiers/{did}', paid: false },
  'did.resolve': { method: 'GET', path: '/v1/did/resolve/{did}', paid: false },
  'discovery.agent_card': { method: 'GET', path: '/.well-known/agent-card.json', paid: false },
  'discovery.api_catalog': { method: 'GET', path: '/.well-known/api-catalog', paid: false },
  'discovery.did': { method: 'GET', path: '/.well-known/did.json', paid: false },
  'discovery.index': { method: 'GET', path: '/', paid: false },
  'discovery.keys': { method: 'GET', path: '/.well-known/http-message-signatures-directory', paid: false },
  'discovery.license': { method: 'GET', path: '/license', paid: false },
  'discovery.llms': { method: 'GET', path: '/llms.txt', paid: false },
  'discovery.openapi': { method: 'GET', path: '/openapi.json', paid: false },
  'discovery.openapi_full': { method: 'GET', path: '/openapi/full.json', paid: false },
  'discovery.x402': { method: 'GET', path: '/.well-known/x402', paid: false },
  'discovery.x402_draft': { method: 'GET', path: '/.well-known/x402.json', paid: false },
  'errors.get': { method: 'GET', path: '/errors/{code}', paid: false },
  'errors.list': { method: 'GET', path: '/errors', paid: false },
  'identity.registration': { method: 'GET', path: '/.well-known/agent-registration.json', paid: false },
  'invoices.issue': { method: 'POST', path: '/v1/invoices', paid: false },
  'invoices.show': { method: 'GET', path: '/v1/invoices/{id}', paid: false },
  'log.checkpoint': { method: 'GET', path: '/v1/log/checkpoint', paid: false },
  'log.consistency': { method: 'GET', path: '/v1/log/consistency', paid: false },
  'log.describe': { method: 'GET', path: '/v1/log', paid: false },
  'log.tile1': { method: 'GET', path: '/v1/log/tile/{level}/{a}', paid: false },
  'log.witness': { method: 'GET', path: '/v1/witness', paid: false },
  'mandates.create': { method: 'POST', path: '/v1/mandates', paid: false },
  'mandates.list': { method: 'GET', path: '/v1/mandates', paid: false },
  'mandates.revoke': { method: 'DELETE', path: '/v1/mandates/{id}', paid: false },
  'market.intents.clusters': { method: 'GET', path: '/v1/market/intent-stream/clusters', paid: false },
  'market.intents.events': { method: 'GET', path: '/v1/market/intent-stream/events', paid: false },
  'market.intents.file': { method: 'GET', path: '/v1/market/intent-stream/files/{file}', paid: false },
  'market.intents.files': { method: 'GET', path: '/v1/market/intent-stream/files', paid: false },
  'market.intents.sample': { method: 'GET', path: '/v1/market/intent-stream/sample', paid: false },
  'market.intents.series': { method: 'GET', path: '/v1/market/intent-stream/series', paid: false },
  'market.intents.signal': { method: 'GET', path: '/v1/market/intent-stream/signal', paid: false },
  'market.intents.stream': { method: 'GET', path: '/v1/market/intent-stream', paid: true },
  'market.intents.ticket': { method: 'POST', path: '/v1/market/intent-stream/ticket', paid: false },
  'matrix.bulk': { method: 'GET', path: '/matrix/{feed}/bulk', paid: false },
  'matrix.delayed': { method: 'GET', path: '/matrix/{feed}/delayed', paid: false },
  'matrix.index': { method: 'GET', path: '/matrix', paid: false },
  'matrix.live': { method: 'GET', path: '/matrix/{feed}/live', paid: true },
  'matrix.quality': { method: 'GET', path: '/matrix/{feed}/quality', paid: false },
  'matrix.screens.list': { method: 'GET', path: '/v1/matrix/screens', paid: false },
  'matrix.screens.remove': { method: 'POST', path: '/v1/matrix/screens/remove', paid: false },
  'matrix.screens.save': { method: 'POST', path: '/v1/matrix/screens', paid: false },
  'matrix.vip': { method: 'GET', path: '/matrix/{feed}/vip', paid: true },
  'matrix.vip.bulk': { method: 'GET', path: '/matrix/{feed}/bulk/{file}', paid: true },
  'mcp.post': { method: 'POST', path: '/mcp', paid: false },
  'mesh.announce': { method: 'POST', path: '/x402/mesh/announce', paid: false },
  'mesh.evidence': { method: 'GET', path: '/x402/mesh/evidence', paid: false },
  'mesh.evidence.give': { method: 'POST', path: '/x402/mesh/evidence', paid: false },
  'mesh.listing': { method: 'GET', path: '/x402/mesh/listing', paid: false },
  'mesh.manifest': { method: 'GET', path: '/x402/mesh', paid: false },
  'mesh.search': { method: 'GET', path: '/x402/mesh/search', paid: false },
  'notifications.endpoints.add': { method: 'POST', path: '/v1/notifications/endpoints', paid: false },
  'notifications.feed': { method: 'GET', path: '/v1/notifications/feed/{topic}/{subject}', paid: false },
  'notifications.own': { method: 'GET', path: '/v1/notifications', paid: false },
  'notifications.plan': { method: 'POST', path: '/v1/notifications/plan', paid: true },
  'notifications.remove': { method: 'POST', path: '/v1/notifications/remove', paid: false },
  'notifications.verify': { method: 'POST', path: '/v1/notifications/verify', paid: false },
  'notifications.watches.add': { method: 'POST', path: '/v1/notifications/watches', paid: false },
  'operator.dispute': { method: 'POST', path: '/v1/operator/disputes', paid: false },
  'operator.overview': { method: 'GET', path: '/v1/operator/overview', paid: false },
  'operator.pause': { method: 'POST', path: '/v1/operator/pauses', paid: false },
  'operator.payments': { method: 'GET', path: '/v1/operator/payments', paid: false },
  'operator.revenue': { method: 'GET', path: '/v1/operator/revenue', paid: false },
  'operator.withdraw': { method: 'POST', path: '/v1/operator/withdrawals', paid: false },
  'ops.livez': { method: 'GET', path: '/livez', paid: false },
  'ops.readyz': { method: 'GET', path: '/readyz', paid: false },
  'options.bid': { method: 'POST', path: '/v1/options/bid', paid: false },
  'options.buy': { method: 'POST', path: '/v1/options/buy', paid: true },
  'options.close': { method: 'POST', path: '/v1/options/close', paid: false },
  'options.clusters': { method: 'GET', path: '/v1/options/clusters', paid: false },
  'options.days': { method: 'GET', path: '/v1/options/series/{symbol}/days', paid: false },
  'options.inputs': { method: 'GET', path: '/v1/options/inputs', paid: false },
  'options.order': { method: 'POST', path: '/v1/options/order', paid: true },
  'options.positions': { method: 'GET', path: '/v1/options/positions/{wallet}', paid: false },
  'options.quote': { method: 'POST', path: '/v1/options/quote', paid: false },
  'options.series': { method: 'GET', path: '/v1/options/series', paid: false },
  'options.series.show': { method: 'GET', path: '/v1/options/series/{symbol}', paid: false },
  'options.settlements': { method: 'GET', path: '/v1/options/settlements', paid: false },
  'options.settlements.show': { method: 'GET', path: '/v1/options/settlements/{symbol}', paid: false },
  'options.trades': { method: 'GET', path: '/v1/options/trades', paid: false },
  'options.vault': { method: 'GET', path: '/v1/options/vault', paid: false },
  'options.withdraw': { method: 'POST', path: '/v1/options/withdraw', paid: false },
  'options.write': { method: 'POST', path: '/v1/options/write', paid: true },
  'payments.dispute': { method: 'POST', path: '/v1/payments/{id}/dispute', paid: false },
  'payments.dispute.show': { method: 'GET', path: '/v1/payments/{id}/dispute', paid: false },
  'payments.status': { method: 'GET', path: '/v1/payments/{id}', paid: false },
  'rewards.affiliate': { method: 'GET', path: '/affiliate/{wallet}', paid: false },
  'rewards.loyalty': { method: 'GET', path: '/loyalty/{wallet}', paid: false },
  'rewards.redeem': { method: 'POST', path: '/redeem', paid: false },
  'rewards.redeem_info': { method: 'GET', path: '/redeem/info', paid: false },
  'royalties.info': { method: 'GET', path: '/v1/royalties/info', paid: false },
  'royalties.remit': { method: 'POST', path: '/v1/royalties/remit', paid: true },
  'royalties.show': { method: 'GET', path: '/v1/royalties/{id}', paid: false },
  'sandbox.echo.get': { method: 'GET', path: '/v1/sandbox/echo', paid: true },
  'sandbox.echo.post': { method: 'POST', path: '/v1/sandbox/echo', paid: true },
  'sandbox.meter': { method: 'GET', path: '/v1/sandbox/meter', paid: true },
  'sources.dispute': { method: 'POST', path: '/v1/sources/{domain}/dispute', paid: false },
  'sources.list': { method: 'GET', path: '/v1/sources', paid: false },
  'sources.register': { method: 'POST', path: '/v1/sources/register', paid: false },
  'sources.show': { method: 'GET', path: '/v1/sources/{domain}', paid: false },
  'sources.terms': { method: 'GET', path: '/v1/sources/{domain}/terms', paid: false },
  'sources.terms.rsl': { method: 'GET', path: '/v1/sources/{domain}/rsl.xml', paid: false },
  'sources.terms.set': { method: 'PUT', path: '/v1/sources/{domain}/terms', paid: false },
  'sources.verify': { method: 'POST', path: '/v1/sources/{domain}/verify', paid: false },
  'sources.wallet': { method: 'POST', path: '/v1/sources/{domain}/wallet', paid: false },
  'subscriptions.cancel': { method: 'POST', path: '/v1/subscriptions/cancel', paid: false },
  'subscriptions.list': { method: 'GET', path: '/v1/subscriptions/list', paid: false },
  'subscriptions.pause': { method: 'POST', path: '/v1/subscriptions/pause', paid: false },
  'subscriptions.plans': { method: 'GET', path: '/v1/subscriptions/plans', paid: false },
  'subscriptions.renewal': { method: 'POST', path: '/v1/subscriptions/renewal', paid: false },
  'subscriptions.resume': { method: 'POST', path: '/v1/subscriptions/resume', paid: false },
  'subscriptions.revoke': { method: 'POST', path: '/v1/subscriptions/revoke', paid: false },
  'subscriptions.rotate': { method: 'POST', path: '/v1/subscriptions/rotate', paid: false },
  'subscriptions.standard.base': { method: 'GET', path: '/matrix/subscribe/standard', paid: true },
  'subscriptions.standard.polygon': { method: 'GET', path: '/poly/matrix/subscribe/standard', paid: true },
  'subscriptions.status': { method: 'GET', path: '/v1/subscriptions', paid: false },
  'subscriptions.upgrade': { method: 'POST', path: '/v1/subscriptions/upgrade', paid: false },
  'subscriptions.vip.base': { method: 'GET', path: '/matrix/subscribe/vip', paid: true },
  'subscriptions.vip.polygon': { method: 'GET', path: '/poly/matrix/subscribe/vip', paid: true },
  'tokens.badge': { method: 'GET', path: '/v1/badge/{address}', paid: false },
  'tokens.changes': { method: 'GET', path: '/v1/tokens/{address}/changes', paid: false },
  'tokens.changes.all': { method: 'GET', path: '/v1/tokens/changes', paid: false },
  'tokens.check': { method: 'GET', path: '/v1/check/{address}', paid: false },
  'tokens.check_batch': { method: 'POST', path: '/v1/check/batch', paid: false },
  'tokens.diff': { method: 'GET', path: '/v1/check/{address}/diff', paid: false },
  'tokens.list': { method: 'GET', path: '/v1/tokens', paid: false },
  'tokens.report': { method: 'GET', path: '/v1/report/{address}', paid: true },
  'wallet.balances': { method: 'GET', path: '/v1/wallet/{wallet}/balances', paid: false },
  'wallet.payments': { method: 'GET', path: '/v1/wallet/payments', paid: false },
} as const satisfies Record<keyof Operations, { method: string; path: string; paid: boolean }>
