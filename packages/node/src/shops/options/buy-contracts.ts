import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { formatUsd, type Micro } from '@assay/protocol/money'
import { type AnswerContent, NotRefundable, type Sale } from '@assay/till'
import { type PreparedAnswer, SaleImpossible } from '@assay/till/internal'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { fieldProblem } from '@assay/till/kernel/problem'
import { accounts, type LedgerTransaction, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { jsonAnswer } from '../../http/index.ts'
import { optionAccounts } from './accounts.ts'
import type { OptionDeps } from './deps.ts'
import { requireEligible } from './eligibility.ts'
import type { OptionQuotes } from './quotes.ts'
import type { ReserveContracts, Reserved } from './reserve-contracts.ts'
import { returnContracts } from './return-contracts.ts'
import { writeEvents } from './series-store.ts'

export type BuyBody = { symbol: string; quantity?: number; quote_id?: string; wallet?: string }

export type BuyDeps = OptionDeps & { reserving: ReserveContracts; quotes: OptionQuotes }

/** Reserves the contracts before any money is taken. */
export async function prepareBuy(
  deps: BuyDeps,
  body: BuyBody,
  call: { payer: Address; paymentId: string },
): Promise<PreparedAnswer> {
  await deps.requireTrading()
  if (body.wallet !== undefined && parseAddress(body.wallet) !== call.payer)
    throw fieldProblem('body.wallet', 'must be the wallet that pays')
  await requireEligible(deps, call.payer, 'buy')
  const quantity = body.quantity ?? 1
  const quote = body.quote_id === undefined ? undefined : deps.quotes.open(body.quote_id, body.symbol, quantity)
  const reserved = await deps.reserving.reserve({
    symbol: body.symbol,
    quantity,
    holder: call.payer,
    paymentId: call.paymentId,
    ...(quote?.vaultMicro === undefined ? {} : { vaultMicro: quote.vaultMicro }),
  })
  return {
    answer: jsonAnswer(describePurchase(reserved, call.payer, quantity)),
    reservation: { position: reserved.positionId, symbol: body.symbol } satisfies Json,
  }
}

function describePurchase(reserved: Reserved, holder: Address, quantity: number) {
  const { series, premiumMicro } = reserved
  return {
    position_id: reserved.positionId,
    symbol: series.symbol,
    wallet: checksumAddress(holder),
    quantity,
    premium_micro: premiumMicro.toString(),
    premium_usd: formatUsd(premiumMicro),
    most_micro: (BigInt(quantity) * series.capMicro).toString(),
    expires_at: toRfc3339(series.expiresAtMs),
    refundable: false,
    position_url: `/v1/options/positions/${checksumAddress(holder)}`,
    ...(series.synthetic ? { synthetic: true } : {}),
  }
}

type Bought = {
  id: string
  payment_id: string
  symbol: string
  quantity: number
  premium_micro: Micro
  vault_micro: Micro
}

type Reservation = { position: string; symbol: string }
const reservationOf = (sale: Sale): Reservation => sale.reservation as unknown as Reservation

/** Turns reservations into positions, all of a batch with one statement each; the money goes behind their series. */
export async function commitBuys(
  deps: OptionDeps,
  tx: Tx,
  sales: readonly Sale[],
): Promise<(AnswerContent | undefined)[]> {
  if (sales.length === 0) return []
  if (sales.some(({ network }) => network !== deps.network)) throw new Error(`options are paid on ${deps.network}`)
  const { rows } = await tx.query<Bought>({
    name: 'option-open-positions',
    text: `update option_position set state = 'open', opened_at = $2 where id = any($1) and state = 'held'
      returning id, payment_id, symbol, quantity, premium_micro, vault_micro`,
    values: [sales.map((sale) => reservationOf(sale).position), new Date(sales[0]?.settledAtMs ?? 0)],
  })
  const bought = new Map(rows.map((row) => [row.id, row]))
  const postings = sales.flatMap((sale) => {
    const row = bought.get(reservationOf(sale).position)
    if (!row || row.payment_id !== sale.paymentId || row.premium_micro !== sale.amountMicro)
      throw new SaleImpossible('the reservation had lapsed when the money arrived')
    return purchasePostings(deps, sale, row)
  })
  await post(tx, postings)
  await writeEvents(
    tx,
    rows.map(({ id, symbol, quantity, premium_micro }) => ({
      symbol,
      kind: 'sold' as const,
      subject: id,
      quantity,
      priceMicro: premium_micro,
    })),
    sales[0]?.settledAtMs ?? 0,
  )
  return sales.map(() => undefined)
}

/** The premium under the payment's own name, so that a reorg reverses exactly it; the vault's part beside it. */
function purchasePostings(deps: OptionDeps, sale: Sale, row: Bought): LedgerTransaction[] {
  const { network } = deps
  const collateral = optionAccounts.collateral(network, row.symbol)
  const postings: LedgerTransaction[] = [
    {
      reference: `option_premium:${row.id}`,
      kind: 'option_premium',
      paymentId: sale.paymentId,
      lines: [
        { account: accounts.clearingPayments(network), amount: row.premium_micro },
        { account: collateral, amount: -row.premium_micro },
      ],
    },
  ]
  if (row.vault_micro > 0n)
    postings.push({
      reference: `option_vault:${row.id}`,
      kind: 'option_vault',
      lines: [
        { account: accounts.operator(network, 'usdc'), amount: row.vault_micro },
        { account: collateral, amount: -row.vault_micro },
      ],
    })
  return postings
}

/** A reorg took the premium: the contracts return to their offers, the vault's part to the operator. */
export async function revokeBuy(deps: OptionDeps, tx: Tx, sale: Sale): Promise<void> {
  const { position, symbol } = reservationOf(sale)
  const [ended] = await returnContracts(deps, tx, [{ id: position, symbol }], { from: 'open', to: 'revoked' })
  // It has ended, and its money is somebody's: what was paid from it cannot be reversed here.
  if (!ended) throw new NotRefundable(`the position ${position} has ended and its premium is not refundable`)
  if (ended.premium_micro !== sale.amountMicro) throw new NotRefundable(`a part of the position ${position} was sold`)
  if (ended.vault_micro === 0n) return
  await post(tx, [
    {
      reference: `option_vault_back:${position}`,
      kind: 'option_vault',
      lines: [
        { account: optionAccounts.collateral(deps.network, symbol), amount: ended.vault_micro },
        { account: accounts.operator(deps.network, 'usdc'), amount: -ended.vault_micro },
      ],
    },
  ])
}
