import { escapeMarkup } from '@assay/protocol/escape-markup'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { latin } from '../../make-pdf.ts'
import { taxOf } from './make-invoice.ts'
import { parseInvoiceSettings } from './settings.ts'

test('prices include tax, rounded to the nearest micro-USDC', () => {
  expect(taxOf(20_000n, 1_900n)).toBe(3_193n)
  expect(taxOf(119_000_000n, 1_900n)).toBe(19_000_000n)
  expect(taxOf(20_000n, 0n)).toBe(0n)
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 15n), fc.bigInt(0n, 9_999n), (total, bps) => {
      const tax = taxOf(total, bps)
      const off = (total - tax) * bps - tax * 10_000n
      expect(off < 0n ? -off : off).toBeLessThanOrEqual(10_000n)
    }),
  )
})

test('the settings say who sells; wrong ones stop the start', () => {
  expect(parseInvoiceSettings({ seller_name: 'X', tax_rate: '0.19' })).toMatchObject({
    sellerName: 'X',
    taxBps: 1_900n,
  })
  expect(parseInvoiceSettings({ tax_rate: '0.077' }).taxBps).toBe(770n)
  expect(parseInvoiceSettings({}).taxBps).toBe(0n)
  for (const wrong of [{ tax_rate: '19' }, { tax_rate: '1.0' }, { prefix: 'x y' }, { vat: 1 }])
    expect(() => parseInvoiceSettings(wrong)).toThrow('INVOICES')
})

test('what a buyer gives about itself is shown and never run', () => {
  expect(escapeMarkup(`<script>"&'`)).toBe('&lt;script&gt;&quot;&amp;&#39;')
  expect(latin('Zoë 株式会社\nA')).toBe('Zoë ????\nA')
})
