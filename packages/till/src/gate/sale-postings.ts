import type { Address } from '@assay/protocol/address'
import { type AssetId, chainOfAsset } from '@assay/protocol/asset'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { PaidRoute, Sale } from '../contract/paid-call.ts'
import { accounts, type LedgerTransaction, type TransferTurn } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'

/** The part of a claim that finishing needs; recovery has it from the row. */
export type FinishedClaim = {
  id: string
  network: string
  asset: AssetId
  payer: Address
  payTo: Address
  paymentKey: Hex
  payee: 'pay_to' | 'custody'
  amountMicro: Micro
  routeId: string
  resource: string
  ref: Address | null
  aff: Address | null
  /** Times its block was reorganised away; each new ending is posted under its own reference. */
  reorgs?: number
}

/** Postings are idempotent by reference: one per payment, and one more for each time a reorg undid it. */
export function postingReference(kind: string, claim: { id: string; reorgs?: number }): string {
  return claim.reorgs ? `${kind}:${claim.id}#${claim.reorgs}` : `${kind}:${claim.id}`
}

type PostedCosts = { claim: FinishedClaim; feeMicro: Micro; gasGwei: bigint }
type Posted = PostedCosts & { commit: PaidRoute['commit'] }

/** How the money of a sale got here: by a transfer that is posted now, or into clearing when it was held. */
export type MoneySource = { transfer: TransferTurn } | 'held'

/** Shares go where the route's commit sends them; what it leaves in clearing would show as an imbalance. */
export function salePostings(input: Posted, money: MoneySource): LedgerTransaction[] {
  const { claim } = input
  const wasHeld = money === 'held'
  const source = wasHeld ? accounts.clearingPayments(claim.network) : accounts.onchain(claim.network, claim.payee)
  const target =
    claim.payee === 'custody' && input.commit
      ? accounts.clearingPayments(claim.network)
      : accounts.revenue(claim.network, claim.routeId)
  const sale: LedgerTransaction = {
    reference: postingReference('sale', claim),
    kind: 'sale',
    paymentId: claim.id,
    ...(wasHeld ? {} : { transfer: money.transfer }),
    lines: [
      { account: source, amount: claim.amountMicro },
      { account: target, amount: -claim.amountMicro },
    ],
  }
  // From clearing to clearing nothing moves.
  const lines = source.name === target.name ? [] : [sale]
  return wasHeld ? lines : [...lines, ...costsOf(input)]
}

/** What taking this payment cost: the facilitator's fee in USDC, gas in the chain's own coin. */
function costsOf(input: PostedCosts): LedgerTransaction[] {
  const { claim } = input
  const costs: LedgerTransaction[] = []
  if (input.feeMicro > 0n)
    costs.push({
      reference: postingReference('fee', claim),
      kind: 'facilitator_fee',
      paymentId: claim.id,
      lines: [
        // Billed in USDC, whatever was paid.
        { account: accounts.feesFacilitator(chainOfAsset(claim.network), claim.routeId), amount: input.feeMicro },
        { account: accounts.payableFacilitator(chainOfAsset(claim.network)), amount: -input.feeMicro },
      ],
    })
  if (input.gasGwei > 0n) costs.push(gasPosting(claim, postingReference('gas', claim), input.gasGwei))
  return costs
}

type GasFor = Pick<FinishedClaim, 'id' | 'network' | 'routeId'>

export function gasPosting({ id, network, routeId }: GasFor, reference: string, gasGwei: bigint): LedgerTransaction {
  return {
    reference,
    kind: 'gas',
    paymentId: id,
    lines: [
      { account: accounts.gasSpent(network, routeId), amount: gasGwei },
      { account: accounts.gasWallet(network), amount: -gasGwei },
    ],
  }
}

/** Money that waits in clearing until it is final. */
export function holdPostings(input: PostedCosts, transfer: TransferTurn): LedgerTransaction[] {
  const { claim } = input
  return [
    {
      reference: postingReference('settle', claim),
      kind: 'settle',
      paymentId: claim.id,
      transfer,
      lines: [
        { account: accounts.onchain(claim.network, claim.payee), amount: claim.amountMicro },
        { account: accounts.clearingPayments(claim.network), amount: -claim.amountMicro },
      ],
    },
    ...costsOf(input),
  ]
}

/**
 * The effect of a custody route sends every micro on; a remainder would belong to nobody, so then nothing is committed.
 */
export async function expectClearingEmpty(
  tx: Tx,
  { network, routeId }: Pick<FinishedClaim, 'network' | 'routeId'>,
  sales: readonly Pick<Sale, 'paymentId'>[],
): Promise<void> {
  const { rows } = await tx.query<{ payment: string; left: bigint }>({
    name: 'payment-clearing-left',
    text: `select payment_id as payment, micro as left from ledger_of_payments($1) where account = $2 limit 1`,
    values: [sales.map(({ paymentId }) => paymentId), accounts.clearingPayments(network).name],
  })
  const [open] = rows
  if (open) throw new Error(`route ${routeId} left ${open.left} in clearing for ${open.payment}`)
}
