import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { type Micro, shareOf, splitEqually, splitShare } from '@assay/protocol/money'
import { noPage } from '@assay/protocol/typed-data/eas'
import type { AnswerContent, Sale } from '@assay/till'
import type { PreparedAnswer } from '@assay/till/internal'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import { accounts, type LedgerLine, mergeLines, post } from '@assay/till/ledger'
import type { Database, Sql, Tx } from '@assay/till/store/database'
import { jsonAnswer } from '../../http/index.ts'
import { appendToLog, leafCommitment, type TransparencyLog } from '../../tlog/index.ts'
import {
  accrueShares,
  attestationPackage,
  type CitationAttester,
  describeLog,
  findPayee,
  readPayouts,
  type Share,
  signRecord,
} from '../attestations/index.ts'
import { tollBps } from '../ports.ts'
import { findParent, type Parent } from './parents.ts'
import { findRemittance, insertRemittance, type Remittance } from './store.ts'

export type RoyaltyDeps = {
  database: Database
  clock: Clock
  ids: Ids
  tree: TransparencyLog
  witnessKeys(): readonly string[]
  attester: CitationAttester
  apiUrl: string
  recipient: Address
  bps: number
  /** Addresses of the node itself: a royalty to one of them is revenue. */
  ownAddresses: ReadonlySet<Address>
  /** How long shares of unproven sources wait, and when they are released. */
  windows: { waitMs: number; releaseMs: number }
}

export const remitRouteId = 'royalties.remit'

/** What EIP-2981 calls royaltyInfo: a floor, in the unit of the price. */
export function royaltyOn(salePrice: bigint, bps: number): bigint {
  return (salePrice * BigInt(bps)) / 10_000n
}

type Facts = { id: string; parent: string; salePriceMicro: string; found?: Parent }

export async function prepareRemittance(
  deps: RoyaltyDeps,
  body: { parent: string; sale_price_micro: string },
): Promise<PreparedAnswer> {
  // Kept, for by the time this is paid a parent may have been refunded or be in a block that was undone.
  const found = await findParent(deps.database, body.parent)
  const facts: Facts = { id: deps.ids.next('roy'), parent: body.parent, salePriceMicro: body.sale_price_micro, found }
  return { answer: jsonAnswer({ id: facts.id }), reservation: facts as unknown as Json }
}

/** Books, logs and links the remittance: to the creators of the attestation it goes back to, otherwise to the recipient. */
export async function commitRemittance(deps: RoyaltyDeps, tx: Tx, sale: Sale): Promise<AnswerContent> {
  const facts = sale.reservation as unknown as Facts
  const parent = facts.found ?? (await findParent(tx, facts.parent))
  const row = (await findRemittance(tx, { paymentId: sale.paymentId })) ?? (await keep(deps, tx, sale, facts, parent))
  const lines = parent.pages.length > 0 ? await creatorLines(tx, sale, row.id, parent) : recipientLines(deps, sale)
  if (sale.amountMicro > 0n)
    await post(tx, [
      {
        reference: `royalty:${sale.paymentId}${sale.round > 0 ? `#${sale.round}` : ''}`,
        kind: 'royalty',
        paymentId: sale.paymentId,
        lines: mergeLines([{ account: accounts.clearingPayments(sale.network), amount: sale.amountMicro }, ...lines]),
      },
    ])
  const answer = jsonAnswer(await describeRemittance(deps, tx, row))
  return { ...answer, commitments: leafCommitment(deps.tree.origin, row.record) }
}

/** A royalty for an answer that used no page pays no creators: it belongs to the recipient. */
function splitRoyalty(sale: Sale, parent: Parent): { tollMicro: Micro; creatorMicro: Micro } {
  if (parent.pages.length === 0) return { tollMicro: 0n, creatorMicro: 0n }
  const { share, rest } = splitShare(sale.amountMicro, tollBps)
  return { tollMicro: share, creatorMicro: rest }
}

async function creatorLines(tx: Tx, sale: Sale, id: string, parent: Parent): Promise<LedgerLine[]> {
  const { tollMicro, creatorMicro } = splitRoyalty(sale, parent)
  const parts = splitEqually(creatorMicro, parent.pages.length)
  const shares: Share[] = []
  for (const [index, page] of parent.pages.entries())
    shares.push({
      payee: await findPayee(tx, page.domain, page.registrable),
      page: page.url,
      micro: parts[index] as Micro,
      held: undefined,
    })
  const lines = await accrueShares(tx, sale, id, shares)
  return [{ account: accounts.revenue(sale.network, remitRouteId), amount: -tollMicro }, ...lines]
}

function recipientLines(deps: RoyaltyDeps, sale: Sale): LedgerLine[] {
  const account = deps.ownAddresses.has(deps.recipient)
    ? accounts.revenue(sale.network, remitRouteId)
    : accounts.payable(sale.network, deps.recipient, 'royalty')
  return [{ account, amount: -sale.amountMicro }]
}

const urlOf = ({ apiUrl }: Pick<RoyaltyDeps, 'apiUrl'>, id: string) => `${apiUrl}/v1/royalties/${id}`

async function keep(deps: RoyaltyDeps, tx: Tx, sale: Sale, facts: Facts, parent: Parent): Promise<Remittance> {
  const { tollMicro, creatorMicro } = splitRoyalty(sale, parent)
  const record = {
    type: 'assay.royalty/v1',
    id: facts.id,
    node: deps.apiUrl,
    parent: facts.parent,
    derived_from: parent.line.map(({ id, kind }) => ({ id, kind })),
    sale_price_micro: facts.salePriceMicro,
    bps: deps.bps,
    royalty_micro: sale.amountMicro.toString(),
    creator_micro: creatorMicro.toString(),
    toll_micro: tollMicro.toString(),
    payer: checksumAddress(sale.payer),
    network: sale.network,
    payment_id: sale.paymentId,
    transaction: sale.transaction,
    remitted_at: toRfc3339(sale.settledAtMs),
  }
  const { text, message, signed } = signRecord(deps.attester, {
    id: facts.id,
    record,
    data: {
      ...noPage,
      sourceUrl: urlOf(deps, facts.id),
      agent: sale.payer,
      payer: sale.payer,
      priceMicro: sale.amountMicro,
    },
    recipient: undefined,
    seconds: Math.floor(sale.settledAtMs / 1000),
  })
  const row: Remittance = {
    id: facts.id,
    paymentId: sale.paymentId,
    parent: facts.parent,
    parentKind: parent.kind,
    payer: sale.payer,
    network: sale.network,
    salePriceMicro: BigInt(facts.salePriceMicro),
    royaltyMicro: sale.amountMicro,
    record: text,
    signed: attestationPackage(message, signed),
    createdAt: new Date(sale.settledAtMs),
  }
  await insertRemittance(tx, row)
  await appendToLog(tx, [{ kind: 'royalty', subject: row.id, entry: Buffer.from(row.record) }])
  return row
}

/** As complete as an attestation: a saved copy can be checked without asking anybody. */
export async function describeRemittance(deps: RoyaltyDeps, sql: Sql, row: Remittance) {
  const url = urlOf(deps, row.id)
  return {
    id: row.id,
    url,
    record: JSON.parse(row.record) as Json,
    attestation: row.signed,
    royalty_micro: row.royaltyMicro.toString(),
    payouts: await readPayouts(sql, row.id, { ...deps.windows, nowMs: deps.clock.nowMs(), apiUrl: deps.apiUrl }),
    log: await describeLog({ ...deps, database: sql }, url, await deps.tree.proofOf(row.id, 'witnessed')),
  }
}

/** The price of a remittance, at least one micro. */
export function remitPrice(salePriceMicro: Micro, bps: number): Micro {
  const royalty = shareOf(salePriceMicro, BigInt(bps))
  return royalty > 0n ? royalty : 1n
}
