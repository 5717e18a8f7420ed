import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { formatUsd, type Micro } from '@assay/protocol/money'
import { type AnswerContent, creditLines, type PreparedAnswer, type Sale, SaleImpossible } from '@assay/till'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { accounts, type LedgerLine, type LedgerTransaction, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { jsonAnswer } from '../../http/index.ts'
import { optionAccounts } from './accounts.ts'
import type { OptionDeps } from './deps.ts'
import { requireEligible } from './eligibility.ts'
import type { OptionQuotes } from './quotes.ts'
import type { ReserveContracts, Reserved } from './reserve-contracts.ts'
import { returnContracts } from './return-contracts.ts'
import { writeEvents } from './series-store.ts'
import { walletsOwing } from './set-off-debts.ts'

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
    throw new Problem('input_invalid', {
      detail: 'wallet must be the wallet that pays.',
      extra: { problems: [{ field: 'body.wallet', problem: 'must be the wallet that pays' }] },
    })
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
  const { series, premiumMicro, paidMicro } = reserved
  return {
    position_id: reserved.positionId,
    symbol: series.symbol,
    wallet: checksumAddress(holder),
    quantity,
    premium_micro: premiumMicro.toString(),
    premium_usd: formatUsd(premiumMicro),
    /** Paid beyond the premium because a better offer was there: it is the buyer's credit. */
    credited_micro: (paidMicro - premiumMicro).toString(),
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
  paid_micro: Micro
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
      returning id, payment_id, symbol, quantity, premium_micro, paid_micro, vault_micro`,
    values: [sales.map((sale) => reservationOf(sale).position), new Date(sales[0]?.settledAtMs ?? 0)],
  })
  const bought = new Map(rows.map((row) => [row.id, row]))
  const postings: LedgerTransaction[] = []
  const better = new Set(rows.filter((row) => row.paid_micro > row.premium_micro).map(({ payment_id }) => payment_id))
  const owing = await walletsOwing(
    deps.network,
    tx,
    sales.filter(({ paymentId }) => better.has(paymentId)).map(({ payer }) => payer),
  )
  const repaid = new Set<Address>()
  for (const sale of sales) {
    const row = bought.get(reservationOf(sale).position)
    if (!row || row.payment_id !== sale.paymentId || row.paid_micro !== sale.amountMicro)
      throw new SaleImpossible('the reservation had lapsed when the money arrived')
    // What a wallet owes is set off against what is posted: two purchases of one batch must not both pay the same debt.
    const owes = better.has(sale.paymentId) && owing.has(sale.payer)
    if (owes && repaid.has(sale.payer)) await post(tx, postings.splice(0))
    if (owes) repaid.add(sale.payer)
    const betterMicro = row.paid_micro - row.premium_micro
    const back = owes
      ? await creditLines(tx, deps.network, sale.payer, betterMicro)
      : [{ account: accounts.credit(deps.network, sale.payer), amount: -betterMicro }]
    postings.push(...purchasePostings(deps, sale, row, betterMicro > 0n ? back : []))
  }
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

/** The premium under the payment's own name, so that a reorg takes back exactly it; the vault's part beside it. */
function purchasePostings(deps: OptionDeps, sale: Sale, row: Bought, back: readonly LedgerLine[]): LedgerTransaction[] {
  const { network } = deps
  const collateral = optionAccounts.collateral(network, row.symbol)
  const postings: LedgerTransaction[] = [
    {
      reference: `option_premium:${row.id}`,
      kind: 'option_premium',
      paymentId: sale.paymentId,
      lines: [
        { account: accounts.clearingPayments(network), amount: row.paid_micro },
        { account: collateral, amount: -row.premium_micro },
        ...back,
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
  // It has ended, and its money is somebody's: what was paid from it cannot be taken back here.
  if (!ended) throw new Error(`the position ${position} has ended and its premium is not refundable`)
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
