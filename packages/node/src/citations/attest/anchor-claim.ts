import { jsonAnswer } from '../../http/index.ts'
import { type Address, checksumAddress, parseAddress } from '../../kernel/address.ts'
import { type Hex, sha256, toHex } from '../../kernel/bytes.ts'
import type { Json } from '../../kernel/canonical-json.ts'
import { type Micro, splitEqually, splitShare } from '../../kernel/money.ts'
import { Problem } from '../../kernel/problem.ts'
import type { AnswerContent, PreparedAnswer, Sale } from '../../payments/index.ts'
import type { Tx } from '../../store/database.ts'
import { accrueShares, type Share } from '../creators/accrue.ts'
import { newPayouts } from '../creators/describe-payout.ts'
import { findPayee } from '../creators/payee.ts'
import { appendToLog } from '../log/index.ts'
import { normalText } from '../page/text-digest.ts'
import { requireAgent } from './agent-statement.ts'
import { paidPart, postSplit, tollBps } from './commit-attestation.ts'
import type { AttestDeps } from './deps.ts'
import { describeAttestation, payoutOptions } from './describe-attestation.ts'
import { zeroBytes32 } from './eas.ts'
import { snapshotFacts } from './prepare-attestation.ts'
import { checksumOrNull, signRecord } from './sign-record.ts'
import { type SourceUrl, sourceUrl } from './source-url.ts'
import { type AttestationRow, findByPayment, insertAttestation } from './store.ts'
import { findWashSigns } from './wash.ts'

export type ClaimBody = { statement: string; sources: string[]; agent_wallet: string; agent_signature?: string }

type ClaimSource = ReturnType<typeof snapshotFacts> & { page: SourceUrl }
type ClaimFacts = { id: string; agent: Address; claimSha256: Hex; sources: ClaimSource[] }

/** Reads every source: a claim that rests on a page nobody can read is not anchored. */
export async function prepareClaim(deps: AttestDeps, body: ClaimBody, payer: Address): Promise<PreparedAnswer> {
  const pages = body.sources.map((text, index) => sourceUrl(text, deps.domains, `sources.${index}`))
  if (new Set(pages.map(({ url }) => url)).size !== pages.length)
    throw new Problem('input_invalid', {
      detail: 'sources names a page twice.',
      extra: { problems: [{ field: 'sources', problem: 'names a page twice' }] },
    })
  const agent = parseAddress(body.agent_wallet) as Address
  const claimSha256 = sha256(normalText(body.statement))
  await requireAgent(
    deps,
    { agent, payer, sourceUrl: pages.map(({ url }) => url).join(' '), quoteSha256: undefined, claimSha256 },
    body.agent_signature as Hex | undefined,
  )
  const snapshots = await Promise.all(pages.map((page) => deps.snapshots.of(page)))
  const facts: ClaimFacts = {
    id: deps.ids.next('clm'),
    agent,
    claimSha256: toHex(claimSha256),
    sources: snapshots.map((snapshot, index) => ({ page: pages[index] as SourceUrl, ...snapshotFacts(snapshot) })),
  }
  return { answer: jsonAnswer({ id: facts.id }), reservation: facts as unknown as Json }
}

/** The toll, then equal parts for the sources; what cannot be divided goes to the first. */
export async function commitClaim(deps: AttestDeps, tx: Tx, sale: Sale): Promise<AnswerContent> {
  const facts = sale.reservation as unknown as ClaimFacts
  const { share: tollMicro, rest } = splitShare(sale.amountMicro, tollBps)
  const parts = splitEqually(rest, facts.sources.length)
  const wash = new Set<string>()
  const shares: Share[] = []
  for (const [index, source] of facts.sources.entries()) {
    const payee = await findPayee(tx, source.page.domain, source.page.registrable)
    const signs = await findWashSigns(tx, {
      agent: facts.agent,
      payer: sale.payer,
      creator: payee.wallet,
      registrable: source.page.registrable,
      nowMs: sale.settledAtMs,
    })
    for (const sign of signs) wash.add(sign)
    const held = { untilMs: sale.settledAtMs + deps.settings.challengeMs, reason: signs.join(', ') }
    shares.push({ payee, micro: parts[index] as Micro, held: signs.length > 0 ? held : undefined })
  }
  const row =
    (sale.round > 0 ? await findByPayment(tx, sale.paymentId) : undefined) ??
    (await stamp(deps, tx, sale, facts, shares, tollMicro, [...wash]))
  const lines = await accrueShares(tx, sale, row.id, shares)
  await postSplit(tx, sale, tollMicro, lines)
  const payouts = newPayouts(shares, sale, payoutOptions(deps))
  return jsonAnswer(await describeAttestation({ ...deps, database: tx }, row, { proof: 'none', payouts }))
}

async function stamp(
  deps: AttestDeps,
  tx: Tx,
  sale: Sale,
  facts: ClaimFacts,
  shares: readonly Share[],
  tollMicro: Micro,
  wash: string[],
): Promise<AttestationRow> {
  const [first] = facts.sources as [ClaimSource]
  const record = {
    type: 'assay.claim/v1',
    id: facts.id,
    node: deps.apiUrl,
    claim_sha256: facts.claimSha256,
    agent_wallet: checksumAddress(facts.agent),
    payer: checksumAddress(sale.payer),
    sources: facts.sources.map((source, index) => ({
      source_url: source.page.url,
      final_url: source.finalUrl,
      http_status: source.httpStatus,
      fetched_at: source.fetchedAt,
      content_sha256: source.contentSha256,
      text_sha256: source.textSha256,
      licence: source.licence,
      domain: source.page.domain,
      creator_wallet: checksumOrNull(shares[index]?.payee.wallet),
      creator_micro: String(shares[index]?.micro ?? 0n),
    })),
    ...paidPart(deps, sale, tollMicro, sale.amountMicro - tollMicro),
    ...(shares.some(({ payee }) => payee.synthetic) ? { synthetic: true } : {}),
  } satisfies { [key: string]: Json }
  const { text, signed } = signRecord(deps.attester, {
    id: facts.id,
    record,
    data: {
      sourceUrl: first.page.url,
      contentSha256: first.contentSha256,
      textSha256: first.textSha256,
      quoteSha256: zeroBytes32,
      claimSha256: facts.claimSha256,
      agent: facts.agent,
      payer: sale.payer,
      priceMicro: sale.amountMicro,
    },
    recipient: shares[0]?.payee.wallet,
    seconds: Math.floor(sale.settledAtMs / 1000),
  })
  const row: AttestationRow = {
    id: facts.id,
    kind: 'claim',
    paymentId: sale.paymentId,
    network: sale.network,
    agent: facts.agent,
    payer: sale.payer,
    sourceUrl: first.page.url,
    domain: first.page.domain,
    registrable: first.page.registrable,
    creator: shares[0]?.payee.wallet ?? null,
    record: text,
    signed: signed.json,
    priceMicro: sale.amountMicro,
    quoteFound: null,
    wash,
    createdAt: new Date(sale.settledAtMs),
  }
  await insertAttestation(tx, row)
  await appendToLog(tx, [{ kind: 'claim', subject: row.id, entry: Buffer.from(text) }])
  return row
}
