import { escapeMarkup } from '@assay/protocol/escape-markup'
import { formatUsd } from '@assay/protocol/money'
import type { Invoice } from './make-invoice.ts'

export const usdc = (micro: string): string => `${formatUsd(BigInt(micro))} USDC`

/** One page that prints well, without scripts or anything from elsewhere. */
export function invoiceHtml(invoice: Invoice, jws: string): string {
  const e = escapeMarkup
  const { seller, buyer } = invoice
  const lines = (text: string) => e(text).replaceAll('\n', '<br>')
  const rows = invoice.lines
    .map(
      (line) =>
        `<tr><td>${e(line.paid_at.slice(0, 10))}</td><td>${e(line.what)}<br><small>${e(line.payment_id)}<br>${e(line.network)} ${e(line.transaction)}</small></td><td class="n">${usdc(line.amount_micro)}</td><td class="n">${usdc(line.refunded_micro)}</td></tr>`,
    )
    .join('\n')
  const title = `${invoice.kind === 'invoice' ? 'Invoice' : 'Receipt'} ${invoice.number}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${e(title)}</title>
<style>body{font:14px/1.4 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}table{width:100%;border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.3rem;border-bottom:1px solid #ccc}.n{text-align:right;white-space:nowrap}small,.jws{color:#555;overflow-wrap:anywhere}.parties{display:flex;gap:3rem}</style></head>
<body><h1>${e(title)}</h1><p>Issued ${e(invoice.issued_at)}</p>
<div class="parties"><div><h2>Seller</h2><p>${e(seller.name)}<br>${lines(seller.address)}<br>${e(seller.tax_id)}<br>${e(seller.url)}</p></div>
<div><h2>Buyer</h2><p>${e(buyer.name)}<br>${lines(buyer.address)}<br>${e(buyer.tax_id)}<br><small>${e(buyer.wallet)}</small></p></div></div>
<table><thead><tr><th>Paid</th><th>What</th><th class="n">Amount</th><th class="n">Refunded</th></tr></thead><tbody>
${rows}
</tbody></table>
<table><tbody><tr><th>Net</th><td class="n">${usdc(invoice.net_micro)}</td></tr>
<tr><th>${e(invoice.tax_name)} ${e(invoice.tax_rate)}</th><td class="n">${usdc(invoice.tax_micro)}</td></tr>
<tr><th>Total</th><td class="n"><b>${usdc(invoice.total_micro)}</b></td></tr></tbody></table>
<p>${lines(invoice.note)}</p><p class="jws">Signature: ${e(jws)}</p></body></html>
`
}
