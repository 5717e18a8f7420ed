import { type Address, parseAddress } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { PreparedAnswer } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import { jsonAnswer } from '../../../http/index.ts'
import { entryBytesMax } from '../../../tlog/index.ts'
import { normalText } from '../../sources/page/index.ts'
import { attestationProblems } from '../problems.ts'
import { requireAgent } from './agent-statement.ts'
import { attestPrices, requirePriced, requireQuoted } from './attest-price.ts'
import { citedHost } from './cited-host.ts'
import type { AttestDeps } from './deps.ts'
import type { Snapshot } from './snapshots.ts'
import { type SourceUrl, sourceUrl } from './source-url.ts'
import type { ReservedSnapshot } from './store-snapshots.ts'

export type AttestBody = {
  source_url: string
  agent_wallet: string
  quote?: string
  claim?: string
  query_id?: string
  agent_signature?: string
}

/** Who pays, and what it was quoted. */
export type Quoted = { payer: Address; priceMicro: Micro }

/** All that is known before the money has moved; commit adds the payment and signs. */
export type CitationFacts = {
  id: string
  agent: Address
  /** The address that was cited, and whose page it turned out to be. */
  page: SourceUrl
  finalUrl: string
  httpStatus: number
  fetchedAt: string
  contentSha256: Hex
  textSha256: Hex
  title: string
  licence: string | null
  quote: { sha256: Hex; found: boolean; offset: number | null; text_fragment: string | null } | null
  claimSha256: Hex | null
  queryId: string | null
}

/** Checks who cites, reads the page and looks for the quote. Whatever needs no page is checked before it is fetched. */
export async function prepareAttestation(
  deps: AttestDeps,
  body: AttestBody,
  { payer, priceMicro }: Quoted,
): Promise<PreparedAnswer> {
  const page = sourceUrl(body.source_url, deps.domains)
  const agent = parseAddress(body.agent_wallet) as Address
  const quoteSha256 = body.quote === undefined ? undefined : sha256(normalText(body.quote))
  const claimSha256 = body.claim === undefined ? undefined : sha256(normalText(body.claim))
  await requireAgent(
    deps,
    { agent, payer, sourceUrl: page.asked, quoteSha256, claimSha256 },
    body.agent_signature as Hex | undefined,
  )
  const matched = body.query_id === undefined ? undefined : await requireMatched(deps, body.query_id, page)
  const [micro = 0n] = await attestPrices(deps.currentTerms, [page])
  requireQuoted(deps, [micro], priceMicro)
  const snapshot = await deps.snapshots.of(page)
  if (matched && !snapshot.textSha256.equals(matched.textSha256))
    throw new Problem(attestationProblems.page_changed, {
      detail: 'The text of the page is no longer the one that the query matched.',
    })
  const cited = citedPage(deps, page, snapshot)
  await requirePriced(deps.currentTerms, [{ ...page, micro }], [{ ...cited, url: snapshot.finalUrl }], 'source_url')
  const found = body.quote === undefined ? undefined : await deps.threads.find(snapshot.text, body.quote)
  const facts: CitationFacts = {
    id: deps.ids.next('att'),
    agent,
    page: cited,
    ...snapshotFacts(snapshot),
    quote:
      found && quoteSha256
        ? {
            sha256: toHex(quoteSha256),
            found: found.found,
            offset: found.offset,
            text_fragment: found.textFragment,
          }
        : null,
    claimSha256: claimSha256 ? toHex(claimSha256) : null,
    queryId: body.query_id ?? null,
  }
  return reserve(facts, [await deps.snapshots.toStore(page, snapshot)])
}

/** What the record adds to the facts: parties, payment and terms, all of known length. */
const recordBytesBeyond = 4_096

/** Refused here, for a record that does not fit into an entry of the log would be found out only once it is paid. */
export function reserve(
  facts: { id: string },
  snapshots: readonly (ReservedSnapshot | undefined)[] = [],
): PreparedAnswer {
  // As long as the canonical text, which has the same members in another order.
  if (Buffer.byteLength(JSON.stringify(facts)) > entryBytesMax - recordBytesBeyond)
    throw fieldProblem('sources', 'are too long to be logged together')
  const toStore = snapshots.filter((snapshot) => snapshot !== undefined)
  const reservation = toStore.length === 0 ? facts : { ...facts, snapshots: toStore }
  return { answer: jsonAnswer({ id: facts.id }), reservation: reservation as unknown as Json }
}

export function snapshotFacts(snapshot: Snapshot) {
  return {
    finalUrl: snapshot.finalUrl,
    httpStatus: snapshot.httpStatus,
    fetchedAt: toRfc3339(snapshot.fetchedAt.getTime()),
    contentSha256: toHex(snapshot.contentSha256),
    textSha256: toHex(snapshot.textSha256),
    title: snapshot.title,
    licence: snapshot.licence,
  }
}

/** The page as it was cited, with the host that is paid for it. */
export function citedPage(deps: Pick<AttestDeps, 'domains'>, page: SourceUrl, snapshot: Snapshot): SourceUrl {
  const host = citedHost(snapshot, deps.domains)
  if (!host)
    throw new Problem(attestationProblems.page_unreadable, {
      detail: `The page leads to ${new URL(snapshot.finalUrl).hostname}, which is not a public domain.`,
    })
  return { url: page.url, ...host }
}

/** A citation that names a query cites a page which that query offered. */
async function requireMatched(deps: AttestDeps, queryId: string, page: SourceUrl) {
  const matched = await deps.findMatched(queryId, page.url)
  if (matched) return matched
  throw fieldProblem('query_id', 'names no match of the last 90 days that offered this page')
}
