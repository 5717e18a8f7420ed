import type { CaptureOutcome, EntitledResponse, Hold, HoldEnd, HoldPort, KeptSale } from '../../contract/entitlement.ts'
import { Problem } from '../../kernel/problem.ts'
import { accounts, type LedgerTransaction } from '../../ledger/index.ts'
import { createBatcher } from '../../store/group-commit.ts'
import { channelAccounts } from './accounts.ts'
import { ChannelChanged, type ChannelDeps } from './channel-deps.ts'
import type { ChannelRecord } from './channel-record.ts'
import {
  type DeliveredSale,
  endOfSale,
  insertSales,
  markSalesDelivered,
  type NewSale,
  raiseCharges,
} from './channel-store.ts'
import { correctionFor } from './check-voucher.ts'
import { makeDeposit, type PlannedDeposit } from './make-deposit.ts'
import { soldRecord, type VoucherHold, voucherOf, voucherResponse } from './voucher-hold.ts'

/** Those that failed are evicted in their turn. */
const heldMax = 4_096

export type VoucherPort = HoldPort & { delivered(sale: DeliveredSale): Promise<void>; idle(): Promise<void> }

/** How a sale by voucher is made: the charge, the answer and the postings in one transaction. */
export function createVoucherPort(deps: ChannelDeps): VoucherPort {
  const { database, clock, cache, log } = deps
  /** By call, until it has ended. */
  const held = new Map<string, VoucherHold>()
  const deliveries = createBatcher<DeliveredSale, void>({
    maxItems: 256,
    maxConcurrent: 1,
    run: async (sales) => {
      await markSalesDelivered(database, sales, clock.nowMs())
      return sales.map(() => undefined)
    },
  })
  return {
    name: 'channel',
    async beforeCapture(hold, { chargeMicro }) {
      const voucher = voucherOf(hold)
      voucher.chargeMicro = chargeMicro ?? voucher.amountMicro
      if (voucher.chargeMicro < 0n || voucher.chargeMicro > voucher.amountMicro)
        throw new Error(`a charge of ${chargeMicro} does not fit a quote of ${voucher.amountMicro}`)
      held.set(hold.holdId, voucher)
      if (held.size > heldMax) held.delete(held.keys().next().value as string)
      if (voucher.deposit) await deposit(voucher, voucher.deposit)
      const sold = soldRecord(voucher)
      voucher.paymentResponse = voucherResponse(voucher, sold)
      return () => respond(hold.holdId, voucher, sold)
    },
    async capture(tx, calls) {
      const vouchers = calls.map(({ hold }) => voucherOf(hold))
      const raised = await raiseCharges(tx, vouchers.map(drawOf), clock.nowMs())
      return calls.map(({ hold, route }, place): CaptureOutcome => {
        const voucher = voucherOf(hold)
        if (!raised.has(place))
          return { status: 'not_captured', why: async () => ({ status: 'refused', problem: changed(voucher) }) }
        return capturedOf(voucher, route.id)
      })
    },
    keep: (tx, sold) =>
      insertSales(tx, sold.map(saleOf), clock.nowMs()).catch((error: unknown) => {
        throw isIdentifierTaken(error) ? new Problem('payment_identifier_conflict') : error
      }),
    async release(holdId): Promise<HoldEnd | undefined> {
      const voucher = held.get(holdId)
      if (!voucher) return undefined
      const captured = await endOfSale(database, voucher.record, voucher.callId)
      cache.evict(voucher.record)
      if (!captured) return { status: 'released' }
      const { network } = voucher.record
      return { status: 'captured', draw: { network, amountMicro: voucher.chargeMicro, leftMicro: 0n } }
    },
    delivered,
    idle: () => deliveries.idle(),
  }

  async function deposit(voucher: VoucherHold, planned: PlannedDeposit): Promise<void> {
    const transaction = await makeDeposit(deps, planned)
    if (transaction !== undefined) voucher.transaction = transaction
    const known = await cache.get(voucher.record)
    if (!known) throw new Error(`the channel ${voucher.record.id} is not known after its deposit`)
    voucher.record = known.record
    if (known.record.chargedMicro + voucher.amountMicro !== voucher.signedMicro)
      throw await correctionFor(deps, known.record)
  }

  function respond(
    holdId: string,
    { fingerprint, paymentResponse }: VoucherHold,
    sold: ChannelRecord,
  ): EntitledResponse {
    held.delete(holdId)
    cache.sold(sold, sold, fingerprint.toString('hex'))
    return { paymentResponse, delivered: () => delivered(sold) }
  }

  /** Another process sold by this channel meanwhile, its state changed, or an earlier commit was not seen to end. */
  function changed({ record }: VoucherHold): Problem {
    cache.evict(record)
    return new ChannelChanged()
  }

  function delivered(sale: DeliveredSale): Promise<void> {
    cache.delivered(sale, sale.sequence)
    return deliveries
      .submit(sale)
      .catch((error: unknown) => log.warn({ channel: sale.id, error: String(error) }, 'delivery not recorded'))
  }
}

/** Two channels of one payer, at the same time. */
const isIdentifierTaken = (error: unknown): boolean =>
  (error as { constraint?: string } | undefined)?.constraint === 'channel_sale_identifier'

const drawOf = ({ record, signedMicro, chargeMicro, signature }: VoucherHold) => ({
  ...{ network: record.network, id: record.id, baseMicro: record.chargedMicro, sequence: record.sequence },
  ...{ signedMicro, chargeMicro, signature },
})

function capturedOf(voucher: VoucherHold, routeId: string): CaptureOutcome {
  const { chargeMicro: amountMicro, record } = voucher
  if (amountMicro === 0n) return { status: 'captured' }
  const leftMicro = record.balanceMicro - record.chargedMicro - amountMicro
  const draw = { network: record.network, amountMicro, leftMicro }
  return { status: 'captured', draw, posting: postingOf(voucher, routeId) }
}

function postingOf({ callId, chargeMicro, record: { network } }: VoucherHold, routeId: string): LedgerTransaction {
  return {
    reference: `voucher:${callId}`,
    kind: 'sale',
    paymentId: callId,
    lines: [
      { account: channelAccounts.vouchers(network), amount: chargeMicro },
      { account: accounts.revenue(network, routeId), amount: -chargeMicro },
    ],
  }
}

function saleOf({ hold, route, answer }: KeptSale): NewSale {
  const voucher = voucherOf(hold)
  const { network, id, config, sequence } = voucher.record
  return {
    ...{ network, id, payer: config.payer, sequence: sequence + 1n, callId: voucher.callId, routeId: route.id },
    ...{ fingerprint: voucher.fingerprint, identifierHash: voucher.identifierHash },
    ...{ signedMicro: voucher.signedMicro, chargeMicro: voucher.chargeMicro },
    ...{ status: answer.status, contentType: answer.contentType, headers: answer.headers ?? {} },
    body: Buffer.from(answer.body),
    paymentResponse: voucher.paymentResponse,
  }
}

export const heldVoucher = (voucher: VoucherHold): Hold => ({
  ...{ status: 'held', holdId: voucher.callId, callId: voucher.callId, account: voucher.record.config.payer },
  // Its answer is kept with the sale, so that it can be asked for again.
  ...{ hasKey: true, chargeAfterPrepare: voucher },
})
