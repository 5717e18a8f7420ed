import type { CitationAttestation } from '@assay/protocol/evidence/attestation-file'
import type { LocalAccount } from 'viem'
import type { AssayClient } from '../client.ts'
import { signedCall } from '../credit/signed-call.ts'
import { readJson } from '../read-json.ts'

export type AttestCitation = {
  sourceUrl: string
  agentWallet: string
  quote?: string
  claim?: string
  queryId?: string
  agentSignature?: string
}

export type CitationResult = CitationAttestation & {
  url: string
  split: { price_micro: string; creator_micro: string; toll_micro: string }
  payouts: { domain: string; wallet: string | null; micro: string; state: string; note: string }[]
}

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const at = (node: string, path: string) => new URL(path, node).href

/** Buys POST /v1/cite/attest within the client's policy: 0.005 USD, of which the creator gets nine tenths. */
export async function attestCitation(
  client: AssayClient,
  node: string,
  given: AttestCitation,
): Promise<CitationResult> {
  const body = {
    source_url: given.sourceUrl,
    agent_wallet: given.agentWallet,
    quote: given.quote,
    claim: given.claim,
    query_id: given.queryId,
    agent_signature: given.agentSignature,
  }
  return readJson<CitationResult>(await client.fetch(at(node, '/v1/cite/attest'), post(body)))
}

/** Buys POST /v1/claims/anchor: a statement with the pages it rests on. */
export async function anchorClaim(
  client: AssayClient,
  node: string,
  given: { statement: string; sources: readonly string[]; agentWallet: string; agentSignature?: string },
): Promise<CitationResult> {
  const body = {
    statement: given.statement,
    sources: given.sources,
    agent_wallet: given.agentWallet,
    agent_signature: given.agentSignature,
  }
  return readJson<CitationResult>(await client.fetch(at(node, '/v1/claims/anchor'), post(body)))
}

/** Free; with the signatures of the witnesses and the state of the payout as they are now. */
export async function readAttestation(client: AssayClient, node: string, id: string): Promise<CitationResult> {
  return readJson<CitationResult>(await client.fetch(at(node, `/v1/attestations/${encodeURIComponent(id)}`)))
}

/** Money of a domain that goes from a lost wallet to another one. */
export type CreatorMove = {
  network: string
  domain: string | null
  from: string
  to: string
  state: 'asked' | 'pending' | 'moved' | 'refused'
  ready_at: string | null
  note: string
}

export type Creator = {
  wallet: string
  earned_micro: string
  chains: {
    network: string
    accrued_micro: string
    held_micro: string
    committed_micro: string
    claimed_micro: string
    claimable_micro: string
    threshold_micro: string
    distributor: string
    /** Transactions that anybody may send; the USDC goes to the creator. */
    claims: { to: string; data: string; domain: string | null; micro: string }[]
  }[]
  moves: CreatorMove[]
  payouts: { network: string; transaction: string; payee: string; amount_micro: string; claimed_at: string }[]
}

export async function readCreator(client: AssayClient, node: string, wallet: string): Promise<Creator> {
  return readJson<Creator>(await client.fetch(at(node, `/v1/creators/${encodeURIComponent(wallet)}`)))
}

/** Sets from which amount on a creator is sent what it has on chain; signed by its wallet, free. */
export async function setPayoutThreshold(
  client: AssayClient,
  node: string,
  given: { account: Pick<LocalAccount, 'address' | 'signMessage'>; thresholdUsd: string },
): Promise<Creator> {
  const { account, thresholdUsd } = given
  const path = `/v1/creators/${account.address}/threshold`
  return signedCall<Creator>(client, 'POST', path, { node, account }, { threshold_usd: thresholdUsd })
}

/** Asks for what a domain earned for an earlier wallet that was lost; signed by the wallet that the domain names now. */
export async function askCreatorMove(
  client: AssayClient,
  node: string,
  given: { account: Pick<LocalAccount, 'address' | 'signMessage'>; domain: string; from: string },
): Promise<{ domain: string; from: string; moves: CreatorMove[] }> {
  const { account, domain, from } = given
  const path = `/v1/sources/${encodeURIComponent(domain)}/move`
  return signedCall(client, 'POST', path, { node, account }, { from })
}

export type RoyaltyInfo = { receiver: string; royalty_amount: string; bps: number; network: string; contract: string }

/** Like royaltyInfo of EIP-2981, in the unit of the price. */
export async function royaltyInfo(client: AssayClient, node: string, salePrice: bigint): Promise<RoyaltyInfo> {
  return readJson<RoyaltyInfo>(await client.fetch(at(node, `/v1/royalties/info?sale_price=${salePrice}`)))
}

/** Has the same evidence as an attestation: `verifyAttestation` checks it. */
export type Remittance = CitationAttestation & { url: string; royalty_micro: string }

/** Remits 2.5 % of a declared sale, linked to what it was made from. */
export async function remitRoyalty(
  client: AssayClient,
  node: string,
  given: { parent: string; salePriceMicro: bigint },
): Promise<Remittance> {
  const body = { parent: given.parent, sale_price_micro: given.salePriceMicro.toString() }
  return readJson<Remittance>(await client.fetch(at(node, '/v1/royalties/remit'), post(body)))
}
