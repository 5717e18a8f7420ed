import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { type Micro, splitByWeight, splitShare } from '@assay/protocol/money'
import type { AttestMessage } from '@assay/protocol/typed-data/eas'
import type { AnswerContent, Sale } from '@assay/till'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { accounts, addPostings, type LedgerLine, type LedgerTransaction, mergeLines } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { jsonAnswer } from '../../../http/index.ts'
import { appendToLog, leafCommitment } from '../../../tlog/index.ts'
import { tollBps } from '../../ports.ts'
import { accrueAll, type Share } from '../creators/accrue.ts'
import { newPayouts } from '../creators/describe-payout.ts'
import { domainsAbove, findPayees } from '../creators/payee.ts'
import type { AttestDeps } from './deps.ts'
import { messageOf, newAttestation, payoutOptions } from './describe-attestation.ts'
import { attestedFacts, signRecord } from './sign-record.ts'
import type { SourceUrl } from './source-url.ts'
import { type AttestationRow, findByPayments, insertAttestations } from './store.ts'
import { type ReservedSnapshot, storeSnapshots } from './store-snapshots.ts'
import { findWashSigns, type WashSign } from './wash.ts'

/** One sale of a stamp: who cites which pages, and how its record is written once it is known whom it pays. */
export type AttestationDraft = {
  sale: Sale
  id: string
  kind: AttestationRow['kind']
  agent: Address
  /** Whose creators share what the toll leaves, by weight, the first taking what cannot be divided. */
  pages: readonly [SourceUrl, ...SourceUrl[]]
  weights: readonly bigint[]
  quoteFound: boolean | null
  /** Pages that were fetched for this sale and are not stored yet. */
  snapshots: readonly ReservedSnapshot[]
  write(shares: readonly Share[]): { [key: string]: Json }
}

/** An attestation with what was signed. */
type Stamp = { row: AttestationRow; message: AttestMessage }

type Allocation = { draft: AttestationDraft; tollMicro: Micro; shares: Share[]; wash: WashSign[] }

/**
 * Everything that stamps do, in the one transaction of their payments: attestations, leaves of the log, accruals of the
 * creators and the split of the price, each in one statement for all of them.
 */
export async function commitRecords(
  deps: AttestDeps,
  tx: Tx,
  drafts: readonly AttestationDraft[],
  unposted: LedgerTransaction[],
): Promise<AnswerContent[]> {
  const allocations = await allocate(deps, tx, drafts)
  const stamps = await stamp(deps, tx, allocations)
  const lines = await accrueAll(
    tx,
    allocations.map(({ draft, shares }, index) => ({
      sale: draft.sale,
      subject: (stamps[index] as Stamp).row.id,
      shares,
    })),
  )
  // Posted last of all: the creators' balances are locked from there to the commit.
  addPostings(
    unposted,
    allocations.flatMap(({ draft, tollMicro }, index) =>
      splitTransactions(draft.sale, tollMicro, lines[index] as LedgerLine[]),
    ),
  )
  return allocations.map(({ draft, shares }, index) => {
    const made = stamps[index] as Stamp
    const view = newAttestation(deps, made, newPayouts(shares, draft.sale, payoutOptions(deps)))
    return { ...jsonAnswer(view), commitments: leafCommitment(deps.tree.origin, made.row.record) }
  })
}

/** Whom each of them pays, how much, and whether somebody cites himself. */
async function allocate(deps: AttestDeps, tx: Tx, drafts: readonly AttestationDraft[]): Promise<Allocation[]> {
  const pages = drafts.flatMap((draft) => draft.pages.map((page) => ({ draft, page })))
  const payees = await findPayees(
    tx,
    pages.map(({ page }) => page),
  )
  const signs = await findWashSigns(
    tx,
    pages.map(({ draft: { id, agent, sale }, page }, index) => ({
      subject: id,
      agent,
      payer: sale.payer,
      creator: payees[index]?.wallet,
      names: domainsAbove(page.domain, page.registrable),
      registrable: page.registrable,
      nowMs: sale.settledAtMs,
    })),
  )
  let at = 0
  return drafts.map((draft) => {
    const { share: tollMicro, rest } = splitShare(draft.sale.amountMicro, tollBps)
    const parts = splitByWeight(rest, draft.weights)
    const first = at
    at += draft.pages.length
    return {
      draft,
      tollMicro,
      wash: [...new Set(signs.slice(first, at).flat())],
      shares: payees.slice(first, at).map((payee, index) => ({
        payee,
        page: draft.pages[index]?.url,
        micro: parts[index] as Micro,
        held: heldFor(deps, draft.sale, signs[first + index] as WashSign[]),
      })),
    }
  })
}

function heldFor(deps: AttestDeps, sale: Sale, signs: readonly WashSign[]): Share['held'] {
  if (signs.length === 0) return undefined
  return { untilMs: sale.settledAtMs + deps.settings.challengeMs, reason: signs.join(', ') }
}

/** After a reorg the same sale ends a second time: the stamp exists already, only the money is posted again. */
async function stamp(deps: AttestDeps, tx: Tx, allocations: readonly Allocation[]): Promise<Stamp[]> {
  const again = allocations.filter(({ draft }) => draft.sale.round > 0)
  const known = await findByPayments(
    tx,
    again.map(({ draft }) => draft.sale.paymentId),
  )
  const made: AttestationRow[] = []
  const stamps = allocations.map((one) => {
    const row = known.get(one.draft.sale.paymentId)
    if (row) return { row, message: messageOf(row) }
    const stamp = signStamp(deps, one)
    made.push(stamp.row)
    return stamp
  })
  await insertAttestations(tx, made)
  const ids = new Set(made.map(({ id }) => id))
  await storeSnapshots(
    tx,
    allocations.flatMap(({ draft: { id, snapshots } }) =>
      ids.has(id) ? snapshots.map((snapshot) => ({ attestation: id, snapshot })) : [],
    ),
  )
  await appendToLog(
    tx,
    made.map(({ id, kind, record }) => ({ kind, subject: id, entry: Buffer.from(record) })),
  )
  return stamps
}

function signStamp(deps: AttestDeps, { draft, tollMicro, shares, wash }: Allocation): Stamp {
  const { sale, id, kind, agent, pages, quoteFound } = draft
  const creator = shares[0]?.payee.wallet
  const record = { ...draft.write(shares), ...paidPart(deps, sale, tollMicro) }
  const { text, message, signed } = signRecord(deps.attester, { id, record, ...attestedFacts(record) })
  const row: AttestationRow = {
    id,
    kind,
    paymentId: sale.paymentId,
    network: sale.network,
    agent,
    payer: sale.payer,
    sourceUrl: pages[0].url,
    domain: pages[0].domain,
    registrable: pages[0].registrable,
    creator: creator ?? null,
    record: text,
    signed,
    priceMicro: sale.amountMicro,
    quoteFound,
    wash,
    createdAt: new Date(sale.settledAtMs),
  }
  return { row, message }
}

/** What every record says of its payment and of the terms it is given under. */
function paidPart(deps: AttestDeps, sale: Sale, tollMicro: Micro) {
  return {
    network: sale.network,
    payment_id: sale.paymentId,
    transaction: sale.transaction,
    price_micro: sale.amountMicro.toString(),
    creator_micro: (sale.amountMicro - tollMicro).toString(),
    toll_micro: tollMicro.toString(),
    royalty: {
      recipient: checksumAddress(deps.royalty.recipient as Address),
      bps: deps.royalty.bps,
      licence: deps.royalty.licence,
    },
    attested_at: toRfc3339(sale.settledAtMs),
  }
}

function splitTransactions(sale: Sale, tollMicro: Micro, shares: readonly LedgerLine[]): LedgerTransaction[] {
  if (sale.amountMicro === 0n) return []
  return [
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
  ]
}
