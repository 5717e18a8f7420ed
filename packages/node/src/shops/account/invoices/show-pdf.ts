import type { Invoice } from './make-invoice.ts'
import { usdc } from './show-html.ts'

/** The fonts that every reader has know Latin letters only; the HTML has all others. */
export const latin = (text: string): string => text.replaceAll(/[^\n\x20-\x7e\xa0-\xff]/gu, '?')

export async function invoicePdf(invoice: Invoice, jws: string): Promise<Buffer> {
  // Loaded when somebody first asks for one.
  const { default: PdfDocument } = await import('pdfkit')
  const title = `${invoice.kind === 'invoice' ? 'Invoice' : 'Receipt'} ${invoice.number}`
  const issued = new Date(invoice.issued_at)
  const pdf = new PdfDocument({ size: 'A4', margin: 50, info: { Title: title, CreationDate: issued, ModDate: issued } })
  const parts: Buffer[] = []
  const ended = new Promise<Buffer>((resolve, reject) => {
    pdf.on('data', (part: Buffer) => parts.push(part))
    pdf.on('end', () => resolve(Buffer.concat(parts)))
    pdf.on('error', reject)
  })
  const { seller, buyer } = invoice
  const text = (given: string, size = 10) => pdf.fontSize(size).text(latin(given))
  text(title, 20)
  text(`Issued ${invoice.issued_at}`)
  for (const [name, lines] of [
    ['Seller', [seller.name, seller.address, seller.tax_id, seller.url]],
    ['Buyer', [buyer.name, buyer.address, buyer.tax_id, buyer.wallet]],
  ] as const) {
    pdf.moveDown()
    text(name, 12)
    text(lines.filter((line) => line !== '').join('\n'))
  }
  pdf.moveDown()
  for (const line of invoice.lines) {
    const back = line.refunded_micro === '0' ? '' : `, refunded ${usdc(line.refunded_micro)}`
    text(`${line.paid_at.slice(0, 10)}  ${line.what}  ${usdc(line.amount_micro)}${back}`)
    text(`${line.payment_id}  ${line.network}  ${line.transaction}`, 7)
  }
  pdf.moveDown()
  text(`Net ${usdc(invoice.net_micro)}`)
  text(`${invoice.tax_name} ${invoice.tax_rate}: ${usdc(invoice.tax_micro)}`)
  text(`Total ${usdc(invoice.total_micro)}`, 12)
  pdf.moveDown()
  if (invoice.note !== '') text(invoice.note)
  text(`Signature: ${jws}`, 6)
  pdf.end()
  return ended
}
