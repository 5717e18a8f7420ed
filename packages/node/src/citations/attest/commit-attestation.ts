import { jsonAnswer } from '../../http/index.ts'
import { type Address, checksumAddress } from '../../kernel/address.ts'
import type { Json } from '../../kernel/canonical-json.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { type Micro, splitShare } from '../../kernel/money.ts'
import { accounts, type LedgerLine, post } from '../../ledger/index.ts'
import type { AnswerContent, Sale } from '../../payments/index.ts'
import type { Tx } from '../../store/database.ts'
import { accrueShares, mergeLines } from '../creators/accrue.ts'
import { newPayouts } from '../creators/describe-payout.ts'
import { findPayee, type Payee } from '../creators/payee.ts'
import { appendToLog } from '../log/index.ts'
import type { AttestDeps } from './deps.ts'
import { describeAttestation, payoutOptions } from './describe-attestation.ts'
import { zeroBytes32 } from './eas.ts'
import type { CitationFacts } from './prepare-attestation.ts'
import { checksumOrNull, signRecord } from './sign-record.ts'
import { type AttestationRow, findByPayment, insertAttestation } from './store.ts'
import { findWashSigns } from './wash.ts'

/** The operator's part of a citation. */
export const tollBps = 1_000n

/** Everything a citation does, in the one transaction of its payment. */
export async function commitAttestation(deps: AttestDeps, tx: Tx, sale: Sale): Promise<AnswerContent> {
  const facts = sale.reservation as unknown as CitationFacts
  const payee = await findPayee(tx, facts.page.domain, facts.page.registrable)
  const wash = await findWashSigns(tx, {
    agent: facts.agent,
    payer: sale.payer,
    creator: payee.wallet,
    registrable: facts.page.registrable,
    nowMs: sale.settledAtMs,
  })
  const { share: tollMicro, rest: creatorMicro } = splitShare(sale.amountMicro, tollBps)
  // After a reorg the same sale ends a second time: the citation stands already, only the money is booked anew.
  const row =
    (sale.round > 0 ? await findByPayment(tx, sale.paymentId) : undefined) ??
    (await stamp(deps, tx, sale, facts, { payee, wash, tollMicro, creatorMicro }))
  const held =
    wash.length > 0 ? { untilMs: sale.settledAtMs + deps.settings.challengeMs, reason: wash.join(', ') } : undefined
  const shares = [{ payee, micro: creatorMicro, held }]
  const lines = await accrueShares(tx, sale, row.id, shares)
  await postSplit(tx, sale, tollMicro, lines)
  const payouts = newPayouts(shares, sale, payoutOptions(deps))
  return jsonAnswer(await describeAttestation({ ...deps, database: tx }, row, { proof: 'none', payouts }))
}

/** Last of all in the transaction: the creator's balance is locked from here to the commit. */
export async function postSplit(tx: Tx, sale: Sale, tollMicro: Micro, shares: readonly LedgerLine[]): Promise<void> {
  if (sale.amountMicro === 0n) return
  await post(tx, [
    {
      reference: `split:${sale.paymentId}${sale.round > 0 ? `#${sale.round}` : ''}`,
      kind: 'split',
      paymentId: sale.paymentId,
      lines: mergeLines([
        { account: accounts.clearingPayments(sale.network), amount: sale.amountMicro },
        { account: accounts.revenue(sale.network, sale.routeId), amount: -tollMicro },
        ...shares,
      ]),
    },
  ])
}

type Stamp = { payee: Payee; wash: readonly string[]; tollMicro: Micro; creatorMicro: Micro }

async function stamp(
  deps: AttestDeps,
  tx: Tx,
  sale: Sale,
  facts: CitationFacts,
  { payee, wash, tollMicro, creatorMicro }: Stamp,
): Promise<AttestationRow> {
  const record = {
    type: 'assay.citation/v1',
    id: facts.id,
    node: deps.apiUrl,
    source_url: facts.page.url,
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
    creator_wallet: checksumOrNull(payee.wallet),
    domain: facts.page.domain,
    registrable_domain: facts.page.registrable,
    domain_claim: payee.claimId ?? null,
    cite_score: payee.citeScore,
    licence: facts.licence,
    ...paidPart(deps, sale, tollMicro, creatorMicro),
    query_id: facts.queryId,
    derived_from: [],
    ...(payee.synthetic ? { synthetic: true } : {}),
  } satisfies { [key: string]: Json }
  const { text, signed } = signRecord(deps.attester, {
    id: facts.id,
    record,
    data: {
      sourceUrl: facts.page.url,
      contentSha256: facts.contentSha256,
      textSha256: facts.textSha256,
      quoteSha256: facts.quote?.found ? facts.quote.sha256 : zeroBytes32,
      claimSha256: facts.claimSha256 ?? zeroBytes32,
      agent: facts.agent,
      payer: sale.payer,
      priceMicro: sale.amountMicro,
    },
    recipient: payee.wallet,
    seconds: Math.floor(sale.settledAtMs / 1000),
  })
  const row: AttestationRow = {
    id: facts.id,
    kind: 'citation',
    paymentId: sale.paymentId,
    network: sale.network,
    agent: facts.agent as Address,
    payer: sale.payer,
    sourceUrl: facts.page.url,
    domain: facts.page.domain,
    registrable: facts.page.registrable,
    creator: payee.wallet ?? null,
    record: text,
    signed: signed.json,
    priceMicro: sale.amountMicro,
    quoteFound: facts.quote?.found ?? null,
    wash: [...wash],
    createdAt: new Date(sale.settledAtMs),
  }
  await insertAttestation(tx, row)
  await appendToLog(tx, [{ kind: 'citation', subject: row.id, entry: Buffer.from(text) }])
  return row
}

/** What every record says of its payment and of the terms it is given under. */
export function paidPart(deps: AttestDeps, sale: Sale, tollMicro: Micro, creatorMicro: Micro) {
  return {
    network: sale.network,
    payment_id: sale.paymentId,
    transaction: sale.transaction,
    price_micro: sale.amountMicro.toString(),
    creator_micro: creatorMicro.toString(),
    toll_micro: tollMicro.toString(),
    royalty: {
      recipient: checksumAddress(deps.royalty.recipient as Address),
      bps: deps.royalty.bps,
      licence: deps.royalty.licence,
    },
    attested_at: toRfc3339(sale.settledAtMs),
  }
}
