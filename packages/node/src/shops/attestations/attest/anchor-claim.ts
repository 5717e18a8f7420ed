import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { AnswerContent, Sale } from '@assay/till'
import type { PreparedAnswer } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'
import { fieldProblem } from '@assay/till/kernel/problem'
import type { LedgerTransaction } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { pageAddress } from '../../sources/domain/index.ts'
import { normalText } from '../../sources/page/index.ts'
import type { Share } from '../creators/accrue.ts'
import { requireAgent } from './agent-statement.ts'
import { attestPrices, claimWeights, requirePriced, requireQuoted } from './attest-price.ts'
import { type AttestationDraft, commitRecords } from './commit-records.ts'
import type { AttestDeps } from './deps.ts'
import { citedPage, type Quoted, reserve, snapshotFacts } from './prepare-attestation.ts'
import { checksumOrNull } from './sign-record.ts'
import { type AskedUrl, type SourceUrl, sourceUrl } from './source-url.ts'
import type { ReservedSnapshot } from './store-snapshots.ts'

export type ClaimBody = { statement: string; sources: string[]; agent_wallet: string; agent_signature?: string }

type ClaimSource = ReturnType<typeof snapshotFacts> & { page: SourceUrl; priceMicro: string }
type ClaimFacts = { id: string; agent: Address; claimSha256: Hex; sources: [ClaimSource, ...ClaimSource[]] }
type ReservedClaim = ClaimFacts & { snapshots?: ReservedSnapshot[] }

/** Reads every source: a claim that rests on a page nobody can read is not anchored. */
export async function prepareClaim(
  deps: AttestDeps,
  body: ClaimBody,
  { payer, priceMicro }: Quoted,
): Promise<PreparedAnswer> {
  const pages = body.sources.map((text, index) => sourceUrl(text, deps.domains, `sources.${index}`))
  requireDistinct(pages.map(({ url }) => url))
  const agent = parseAddress(body.agent_wallet) as Address
  const claimSha256 = sha256(normalText(body.statement))
  await requireAgent(
    deps,
    { agent, payer, sourceUrl: pages.map(({ asked }) => asked).join(' '), quoteSha256: undefined, claimSha256 },
    body.agent_signature as Hex | undefined,
  )
  const prices = await attestPrices(deps.currentTerms, pages)
  requireQuoted(deps, prices, priceMicro)
  const snapshots = await Promise.all(pages.map((page) => deps.snapshots.of(page)))
  requireDistinct(snapshots.map(({ finalUrl }) => pageAddress(finalUrl)))
  const cited = snapshots.map((snapshot, index) => citedPage(deps, pages[index] as AskedUrl, snapshot))
  const served = cited.map((page, index) => ({ ...page, url: snapshots[index]?.finalUrl ?? page.url }))
  const priced = pages.map((page, index) => ({ ...page, micro: prices[index] as Micro }))
  await requirePriced(deps.currentTerms, priced, served, 'sources')
  const facts: ClaimFacts = {
    id: deps.ids.next('clm'),
    agent,
    claimSha256: toHex(claimSha256),
    sources: snapshots.map((snapshot, index) => ({
      page: cited[index] as SourceUrl,
      priceMicro: String(prices[index]),
      ...snapshotFacts(snapshot),
    })) as ClaimFacts['sources'],
  }
  const toStore = snapshots.map((snapshot, index) => deps.snapshots.toStore(pages[index] as AskedUrl, snapshot))
  return reserve(facts, await Promise.all(toStore))
}

/** Each source gets a share, so one page must not stand for two, whichever addresses lead to it. */
function requireDistinct(addresses: readonly string[]): void {
  if (new Set(addresses).size < addresses.length) throw fieldProblem('sources', 'names a page twice')
}

/** Anchors claims that were paid, all in the transaction of their payments. */
export function commitClaims(
  deps: AttestDeps,
  tx: Tx,
  sales: readonly Sale[],
  unposted: LedgerTransaction[],
): Promise<AnswerContent[]> {
  return commitRecords(
    deps,
    tx,
    sales.map((sale) => claim(deps, sale)),
    unposted,
  )
}

function claim(deps: AttestDeps, sale: Sale): AttestationDraft {
  const facts = sale.reservation as unknown as ReservedClaim
  return {
    sale,
    id: facts.id,
    kind: 'claim',
    agent: facts.agent,
    pages: facts.sources.map(({ page }) => page) as unknown as AttestationDraft['pages'],
    weights: claimWeights(facts.sources.map(({ priceMicro }) => BigInt(priceMicro))),
    quoteFound: null,
    snapshots: facts.snapshots ?? [],
    write: (shares) => ({
      type: 'assay.claim/v1',
      id: facts.id,
      node: deps.apiUrl,
      claim_sha256: facts.claimSha256,
      agent_wallet: checksumAddress(facts.agent),
      payer: checksumAddress(sale.payer),
      sources: facts.sources.map((source, index) => claimedSource(source, shares[index])),
      ...(shares.some(({ payee }) => payee.synthetic) ? { synthetic: true } : {}),
    }),
  }
}

function claimedSource(source: ClaimSource, share: Share | undefined): { [key: string]: Json } {
  return {
    source_url: source.page.url,
    final_url: source.finalUrl,
    http_status: source.httpStatus,
    fetched_at: source.fetchedAt,
    content_sha256: source.contentSha256,
    text_sha256: source.textSha256,
    licence: source.licence,
    domain: source.page.domain,
    creator_wallet: checksumOrNull(share?.payee.wallet),
    creator_micro: String(share?.micro ?? 0n),
  }
}
