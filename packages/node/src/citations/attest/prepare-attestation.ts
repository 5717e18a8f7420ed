import { jsonAnswer } from '../../http/index.ts'
import { type Address, parseAddress } from '../../kernel/address.ts'
import { type Hex, sha256, toHex } from '../../kernel/bytes.ts'
import { canonicalJson, type Json } from '../../kernel/canonical-json.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { Problem } from '../../kernel/problem.ts'
import type { PreparedAnswer } from '../../payments/index.ts'
import { entryBytesMax } from '../log/index.ts'
import { normalText } from '../page/text-digest.ts'
import { requireAgent } from './agent-statement.ts'
import type { AttestDeps } from './deps.ts'
import { findQuote } from './find-quote.ts'
import type { Snapshot } from './snapshots.ts'
import { type SourceUrl, sourceUrl } from './source-url.ts'

export type AttestBody = {
  source_url: string
  agent_wallet: string
  quote?: string
  claim?: string
  query_id?: string
  agent_signature?: string
}

/** All that is known before the money has moved; commit adds the payment and signs. */
export type CitationFacts = {
  id: string
  agent: Address
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

/** Reads the page, looks for the quote and checks who cites. Changes nothing but the stored copy of the page. */
export async function prepareAttestation(deps: AttestDeps, body: AttestBody, payer: Address): Promise<PreparedAnswer> {
  const page = sourceUrl(body.source_url, deps.domains)
  const agent = parseAddress(body.agent_wallet) as Address
  const quoteSha256 = body.quote === undefined ? undefined : sha256(normalText(body.quote))
  const claimSha256 = body.claim === undefined ? undefined : sha256(normalText(body.claim))
  await requireAgent(
    deps,
    { agent, payer, sourceUrl: page.url, quoteSha256, claimSha256 },
    body.agent_signature as Hex | undefined,
  )
  const snapshot = await deps.snapshots.of(page)
  if (body.query_id !== undefined) await requireUnchanged(deps, body.query_id, page, snapshot)
  const found = body.quote === undefined ? undefined : findQuote(snapshot.text, body.quote)
  const facts: CitationFacts = {
    id: deps.ids.next('att'),
    agent,
    page,
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
  return reserve(facts)
}

/** What the record adds to the facts: parties, payment and terms, all of known length. */
const recordBytesBeyond = 4_096

/** Refused here, for a record that does not fit into an entry of the log would be found out only once it is paid. */
export function reserve(facts: { id: string }): PreparedAnswer {
  if (Buffer.byteLength(canonicalJson(facts as unknown as Json)) > entryBytesMax - recordBytesBeyond)
    throw new Problem('input_invalid', {
      detail: 'The addresses of the pages are too long to be logged together.',
      extra: { problems: [{ field: 'sources', problem: 'are too long together' }] },
    })
  return { answer: jsonAnswer({ id: facts.id }), reservation: facts as unknown as Json }
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

/** Whoever cites what a query found cites what it showed. */
async function requireUnchanged(deps: AttestDeps, queryId: string, page: SourceUrl, snapshot: Snapshot) {
  const matched = await deps.findMatched(queryId, page.url)
  if (!matched)
    throw new Problem('input_invalid', {
      detail: 'query_id names no match of the last 90 days that offered this page.',
      extra: { problems: [{ field: 'query_id', problem: 'names no match that offered this page' }] },
    })
  if (!snapshot.textSha256.equals(matched.textSha256))
    throw new Problem('page_changed', { detail: 'The text of the page is no longer the one that the query matched.' })
}
