import type { CitationAttestation } from '@assay/protocol/evidence/attestation-file'
import type { LocalAccount } from 'viem'
import { type AnswerOf, ask, askSigned, type BodyOf, given } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'

export type AttestCitation = {
  sourceUrl: string
  agentWallet: string
  quote?: string
  claim?: string
  queryId?: string
  agentSignature?: string
}

/** The file that proves it, and what became of its price. */
export type CitationResult = CitationAttestation & Pick<AnswerOf<'cite.attest'>, 'url' | 'split' | 'payouts'>

// The operation describes the members that programs use; the file has all that verification needs.
const asFile = <File>(answer: Promise<unknown>) => answer as Promise<File>

/** Buys POST /v1/cite/attest within the client's policy: 0.005 USD, of which the creator gets nine tenths. */
export function attestCitation(client: AssayClient, node: string, citation: AttestCitation): Promise<CitationResult> {
  const body = given<BodyOf<'cite.attest'>>({
    source_url: citation.sourceUrl,
    agent_wallet: citation.agentWallet,
    quote: citation.quote,
    claim: citation.claim,
    query_id: citation.queryId,
    agent_signature: citation.agentSignature,
  })
  return asFile(ask(client, node, 'cite.attest', { body }))
}

/** Buys POST /v1/claims/anchor: a statement with the pages it rests on. */
export function anchorClaim(
  client: AssayClient,
  node: string,
  claim: { statement: string; sources: readonly string[]; agentWallet: string; agentSignature?: string },
): Promise<CitationResult> {
  const body = given<BodyOf<'claims.anchor'>>({
    statement: claim.statement,
    sources: [...claim.sources],
    agent_wallet: claim.agentWallet,
    agent_signature: claim.agentSignature,
  })
  return asFile(ask(client, node, 'claims.anchor', { body }))
}

/** Free; with the signatures of the witnesses and the state of the payout as they are now. */
export function readAttestation(client: AssayClient, node: string, id: string): Promise<CitationResult> {
  return asFile(ask(client, node, 'attestations.show', { params: { id } }))
}

export type Creator = AnswerOf<'creators.show'>
/** Money of a domain that goes from a lost wallet to another one. */
export type CreatorMove = Creator['moves'][number]

export function readCreator(client: AssayClient, node: string, wallet: string): Promise<Creator> {
  return ask(client, node, 'creators.show', { params: { wallet } })
}

/** What a creator earned by page, payer or day; all of it, however many answers that takes. */
export async function readEarnings(
  client: AssayClient,
  node: string,
  wallet: string,
  asked: EarningsAsked = {},
): Promise<Earning[]> {
  const earnings: Earning[] = []
  for (let cursor: string | undefined; ; ) {
    const query = { ...asked, limit: 1_000, ...(cursor === undefined ? {} : { cursor }) }
    const { data, next_cursor } = await ask(client, node, 'creators.earnings', { params: { wallet }, query })
    earnings.push(...data)
    if (next_cursor === null) return earnings
    cursor = next_cursor
  }
}

type EarningsAsked = { by?: 'page' | 'payer' | 'day'; from?: string; until?: string }
type Earning = AnswerOf<'creators.earnings'>['data'][number]

type Account = Pick<LocalAccount, 'address' | 'signMessage'>

/** Sets from which amount on a creator is sent what it has on chain; signed by its wallet, free. */
export function setPayoutThreshold(
  client: AssayClient,
  node: string,
  { account, thresholdUsd }: { account: Account; thresholdUsd: string },
): Promise<Creator> {
  const input = { params: { wallet: account.address }, body: { threshold_usd: thresholdUsd } }
  return askSigned(client, 'creators.threshold', input, { node, account })
}

/** Asks for what a domain earned for an earlier wallet that was lost; signed by the wallet that the domain names now. */
export function askCreatorMove(
  client: AssayClient,
  node: string,
  { account, domain, from }: { account: Account; domain: string; from: string },
): Promise<AnswerOf<'creators.move'>> {
  return askSigned(client, 'creators.move', { params: { domain }, body: { from } }, { node, account })
}

export type RoyaltyInfo = AnswerOf<'royalties.info'>

/** Like royaltyInfo of EIP-2981, in the unit of the price. */
export function royaltyInfo(client: AssayClient, node: string, salePrice: bigint): Promise<RoyaltyInfo> {
  return ask(client, node, 'royalties.info', { query: { sale_price: String(salePrice) } })
}

/** Has the same evidence as an attestation: `verifyAttestation` checks it. */
export type Remittance = CitationAttestation & Pick<AnswerOf<'royalties.remit'>, 'url' | 'royalty_micro'>

/** Remits 2.5 % of a declared sale, linked to what it was made from. */
export function remitRoyalty(
  client: AssayClient,
  node: string,
  { parent, salePriceMicro }: { parent: string; salePriceMicro: bigint },
): Promise<Remittance> {
  const body = { parent, sale_price_micro: String(salePriceMicro) }
  return asFile(ask(client, node, 'royalties.remit', { body }))
}
