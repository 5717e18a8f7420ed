import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { SettledPayment } from '@assay/till/internal'
import { z } from 'zod'
import type { InvoiceSettings } from './settings.ts'

const party = z.strictObject({ name: z.string(), address: z.string(), tax_id: z.string() })

export const invoiceShape = z.strictObject({
  kind: z.enum(['invoice', 'receipt']).describe('A receipt where the operator has set no name for its invoices.'),
  number: z.string(),
  issued_at: z.string(),
  seller: party.extend({ url: z.string() }),
  buyer: party.extend({ wallet: z.string() }),
  currency: z.literal('USDC'),
  lines: z.array(
    z.strictObject({
      payment_id: z.string(),
      paid_at: z.string(),
      what: z.string(),
      network: z.string(),
      transaction: z.string(),
      amount_micro: z.string(),
      refunded_micro: z.string(),
    }),
  ),
  net_micro: z.string(),
  tax_name: z.string(),
  tax_rate: z.string(),
  tax_micro: z.string(),
  total_micro: z.string().describe('Paid less what was given back; prices include tax.'),
  note: z.string(),
})
export type Invoice = z.infer<typeof invoiceShape>

export type Buyer = { name: string; address: string; tax_id: string }

const whole = 10_000n

/** Prices include tax: of the total, the part that is tax, rounded half up. */
export function taxOf(totalMicro: Micro, taxBps: bigint): Micro {
  const divisor = whole + taxBps
  return (totalMicro * taxBps * 2n + divisor) / (divisor * 2n)
}

export function makeInvoice(
  settings: InvoiceSettings,
  facts: {
    number: bigint
    issuedAt: Date
    url: string
    wallet: Address
    buyer: Buyer
    payments: readonly SettledPayment[]
  },
): Invoice {
  const { payments, number, wallet } = facts
  const totalMicro = payments.reduce((sum, { amountMicro, refundedMicro }) => sum + amountMicro - refundedMicro, 0n)
  const taxMicro = taxOf(totalMicro, settings.taxBps)
  return {
    kind: settings.sellerName === '' ? 'receipt' : 'invoice',
    number: `${settings.prefix}${number.toString().padStart(6, '0')}`,
    issued_at: facts.issuedAt.toISOString(),
    seller: {
      name: settings.sellerName,
      address: settings.sellerAddress,
      tax_id: settings.sellerTaxId,
      url: facts.url,
    },
    buyer: { ...facts.buyer, wallet: checksumAddress(wallet) },
    currency: 'USDC',
    lines: payments.map((payment) => ({
      payment_id: payment.id,
      paid_at: payment.settledAt.toISOString(),
      what: payment.routeId,
      network: payment.network,
      transaction: payment.transaction,
      amount_micro: payment.amountMicro.toString(),
      refunded_micro: payment.refundedMicro.toString(),
    })),
    net_micro: (totalMicro - taxMicro).toString(),
    tax_name: settings.taxName,
    tax_rate: `0.${settings.taxBps.toString().padStart(4, '0')}`,
    tax_micro: taxMicro.toString(),
    total_micro: totalMicro.toString(),
    note: settings.note,
  }
}
