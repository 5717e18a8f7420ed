import { checksumAddress } from '@assay/protocol/address'
import type { AnswerContent, Sale } from '@assay/till'
import type { LedgerTransaction } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { type AttestationDraft, commitRecords } from './commit-records.ts'
import type { AttestDeps } from './deps.ts'
import type { CitationFacts } from './prepare-attestation.ts'
import { checksumOrNull } from './sign-record.ts'
import type { ReservedSnapshot } from './store-snapshots.ts'

/** Stamps citations that were paid, all in the transaction of their payments. */
export function commitAttestations(
  deps: AttestDeps,
  tx: Tx,
  sales: readonly Sale[],
  unposted: LedgerTransaction[],
): Promise<AnswerContent[]> {
  return commitRecords(
    deps,
    tx,
    sales.map((sale) => citation(deps, sale)),
    unposted,
  )
}

function citation(deps: AttestDeps, sale: Sale): AttestationDraft {
  const facts = sale.reservation as unknown as CitationFacts & { snapshots?: ReservedSnapshot[] }
  const { page } = facts
  return {
    sale,
    id: facts.id,
    kind: 'citation',
    agent: facts.agent,
    pages: [page],
    weights: [1n],
    quoteFound: facts.quote?.found ?? null,
    snapshots: facts.snapshots ?? [],
    write: ([share]) => ({
      type: 'assay.citation/v1',
      id: facts.id,
      node: deps.apiUrl,
      source_url: page.url,
      final_url: facts.finalUrl,
      title: facts.title,
      http_status: facts.httpStatus,
      fetched_at: facts.fetchedAt,
      content_sha256: facts.contentSha256,
      text_sha256: facts.textSha256,
      quote: facts.quote,
      claim_sha256: facts.claimSha256,
      agent_wallet: checksumAddress(facts.agent),
      payer: checksumAddress(sale.payer),
      creator_wallet: checksumOrNull(share?.payee.wallet),
      domain: page.domain,
      registrable_domain: page.registrable,
      domain_claim: share?.payee.claimId ?? null,
      cite_score: share?.payee.citeScore ?? null,
      licence: facts.licence,
      query_id: facts.queryId,
      derived_from: [],
      ...(share?.payee.synthetic ? { synthetic: true } : {}),
    }),
  }
}
