import { z } from 'zod'
import { parseMembers } from '../../shop-settings.ts'

export type InvoiceSettings = {
  sellerName: string
  sellerAddress: string
  sellerTaxId: string
  /** Ten-thousandths: prices include it. */
  taxBps: bigint
  taxName: string
  note: string
  prefix: string
}

const line = z.string().max(200)
const members = z.strictObject({
  seller_name: line.default(''),
  seller_address: z.string().max(500).default(''),
  seller_tax_id: line.default(''),
  tax_rate: z
    .string()
    .regex(/^0(\.\d{1,4})?$/, 'must be a share such as 0.19')
    .default('0'),
  tax_name: line.default('VAT'),
  note: z.string().max(500).default(''),
  prefix: z
    .string()
    .regex(/^[A-Z0-9-]{0,20}$/, 'must be capital letters, digits and hyphens')
    .default('INV-'),
})

/** From the JSON of `INVOICES`. Without a seller's name there are receipts and no invoices. */
export function parseInvoiceSettings(given: unknown): InvoiceSettings {
  const data = parseMembers('INVOICES', members, given)
  return {
    sellerName: data.seller_name,
    sellerAddress: data.seller_address,
    sellerTaxId: data.seller_tax_id,
    taxBps: BigInt((data.tax_rate.split('.')[1] ?? '').padEnd(4, '0') || '0'),
    taxName: data.tax_name,
    note: data.note,
    prefix: data.prefix,
  }
}
