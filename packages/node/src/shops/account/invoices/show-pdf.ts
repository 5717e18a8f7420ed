import { makePdf } from '../../make-pdf.ts'
import type { Invoice } from './make-invoice.ts'
import { usdc } from './show-html.ts'

export function invoicePdf(invoice: Invoice, jws: string): Promise<Buffer> {
  const title = `${invoice.kind === 'invoice' ? 'Invoice' : 'Receipt'} ${invoice.number}`
  const { seller, buyer } = invoice
  return makePdf(title, new Date(invoice.issued_at), ({ text, gap }) => {
    text(title, 20)
    text(`Issued ${invoice.issued_at}`)
    for (const [name, lines] of [
      ['Seller', [seller.name, seller.address, seller.tax_id, seller.url]],
      ['Buyer', [buyer.name, buyer.address, buyer.tax_id, buyer.wallet]],
    ] as const) {
      gap()
      text(name, 12)
      text(lines.filter((line) => line !== '').join('\n'))
    }
    gap()
    for (const line of invoice.lines) {
      const back = line.refunded_micro === '0' ? '' : `, refunded ${usdc(line.refunded_micro)}`
      text(`${line.paid_at.slice(0, 10)}  ${line.what}  ${usdc(line.amount_micro)}${back}`)
      text(`${line.payment_id}  ${line.network}  ${line.transaction}`, 7)
    }
    gap()
    text(`Net ${usdc(invoice.net_micro)}`)
    text(`${invoice.tax_name} ${invoice.tax_rate}: ${usdc(invoice.tax_micro)}`)
    text(`Total ${usdc(invoice.total_micro)}`, 12)
    gap()
    if (invoice.note !== '') text(invoice.note)
    text(`Signature: ${jws}`, 6)
  })
}
