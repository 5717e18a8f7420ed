import { type SettledPayment, settledPayments } from '@assay/till/internal'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import { verifySession } from '@assay/till/proofs'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import type { ShopContext } from '../../shop.ts'
import { accountProblems } from '../problems.ts'
import { type Payer, type PayerDeps, payerOf, provenPayer } from '../proven-payer.ts'
import { type Invoice, invoiceShape, makeInvoice } from './make-invoice.ts'
import type { InvoiceSettings } from './settings.ts'
import { invoiceHtml } from './show-html.ts'
import { invoicePdf } from './show-pdf.ts'
import { findInvoice, issueInvoice, type StoredInvoice } from './store.ts'

export type InvoiceDeps = PayerDeps &
  Pick<ShopContext, 'database' | 'clock' | 'ids' | 'jws' | 'keyring' | 'baseUrl'> & { settings: InvoiceSettings }

const paymentsMax = 500
const day = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/)
const line = z.string().trim().max(200)
const asked = z.strictObject({
  payment_ids: z.array(z.string().max(64)).min(1).max(100).optional(),
  from: day.optional().describe('First day (UTC) of a period, with `to`, instead of `payment_ids`.'),
  to: day.optional(),
  buyer: z
    .strictObject({ name: line.default(''), address: z.string().trim().max(500).default(''), tax_id: line.default('') })
    .default({ name: '', address: '', tax_id: '' }),
})
const issued = z.strictObject({ id: z.string(), document: invoiceShape, jws: z.string() })

const exampleDocument: Invoice = {
  kind: 'invoice',
  number: 'INV-000001',
  issued_at: '2026-02-01T00:00:00.000Z',
  seller: { name: 'Example Ltd', address: '1 Example Street', tax_id: 'XX123', url: 'https://node.example' },
  buyer: { name: 'Buyer Ltd', address: '2 Example Street', tax_id: '', wallet: `0x${'11'.repeat(20)}` },
  currency: 'USDC',
  lines: [],
  net_micro: '16807',
  tax_name: 'VAT',
  tax_rate: '0.1900',
  tax_micro: '3193',
  total_micro: '20000',
  note: '',
}
const exampleId = 'inv_06d1z8k4q2v7e9m3x5c0w8r2t4'
const example = { id: exampleId, document: exampleDocument, jws: 'eyJ…' }

/** Invoices and receipts: asked for by the wallet that paid, signed by the node. */
export function invoiceRoutes(deps: InvoiceDeps): RouteDeclaration[] {
  return [issueRoute(deps), showRoute(deps)]
}

function issueRoute(deps: InvoiceDeps): RouteDeclaration {
  return defineRoute({
    id: 'invoices.issue',
    area: 'core',
    method: 'POST',
    path: '/v1/invoices',
    summary: 'An invoice or receipt for payments of the wallet that signed the request',
    description:
      'Signed (ERC-8128) by the payer. Name up to 100 payments, or a period of days; only final payments are invoiced, each once. What is given about the buyer is printed as it is.',
    body: asked,
    output: issued,
    example: { body: { payment_ids: ['pay_06d1z8k4q2v7e9m3x5c0w8r2t4'] }, output: example },
    next: '/v1/wallet/payments',
    nextElse: '/',
    cost: 20,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const payer = await provenPayer(deps, call)
        const body = input.body as z.infer<typeof asked>
        const payments = await wanted(deps, payer, body)
        const issuedAt = new Date(deps.clock.nowMs())
        const outcome = await issueInvoice(
          deps.database,
          { id: deps.ids.next('inv'), payer: payer.address, payments, issuedAt },
          (number) => {
            const facts = { number, issuedAt, url: deps.baseUrl, wallet: payer.address, buyer: body.buyer, payments }
            const document = makeInvoice(deps.settings, facts)
            return { document, jws: deps.jws.sign(document) }
          },
        )
        if (outcome.status === 'invoiced_before')
          throw new Problem(accountProblems.invoiced_before, { extra: { invoices: outcome.ids } })
        const { id, document, jws } = outcome.invoice
        return jsonAnswer({ id, document, jws })
      },
    },
  })
}

async function wanted(deps: InvoiceDeps, payer: Payer, body: z.infer<typeof asked>): Promise<SettledPayment[]> {
  const { payment_ids: ids, from, to } = body
  if ((ids === undefined) === (from === undefined || to === undefined) || (from === undefined) !== (to === undefined))
    throw fieldProblem('body.payment_ids', 'is to be given, or both from and to')
  const which = ids === undefined ? periodOf(`${from}`, `${to}`) : { ids: [...new Set(ids)] }
  // One invoice is in one currency, and its texts say USDC.
  const networks = payer.networks.filter((network) => !network.includes('/'))
  const found = await settledPayments(deps.database, { ...payer, networks }, which, paymentsMax + 1)
  if (found.length > paymentsMax)
    throw fieldProblem('body.to', `leaves more than ${paymentsMax} payments: choose a shorter period`)
  if (found.length === 0 || ('ids' in which && found.length < which.ids.length))
    throw new Problem('not_found', { detail: 'No such final payment of this wallet in USDC.' })
  return found
}

function periodOf(from: string, to: string): { from: Date; until: Date } {
  const period = { from: new Date(`${from}T00:00:00Z`), until: new Date(Date.parse(`${to}T00:00:00Z`) + 86_400_000) }
  if (!(period.from < period.until)) throw fieldProblem('body.to', 'must be a day that is not before from')
  return period
}

const params = z.strictObject({ id: z.string().max(64) })

function showRoute(deps: InvoiceDeps): RouteDeclaration {
  return defineRoute({
    id: 'invoices.show',
    area: 'core',
    method: 'GET',
    path: '/v1/invoices/:id',
    summary: 'An invoice as JSON, as a page to print, or as PDF',
    description: 'For its buyer: with a session (Authorization: Bearer), or signed (ERC-8128).',
    params,
    representations: ['application/json', 'text/html', 'application/pdf'],
    output: issued,
    example: { params: { id: exampleId }, output: example },
    next: '/v1/wallet/payments',
    nextElse: '/',
    cost: 10,
    access: {
      kind: 'free',
      security: 'bearer',
      handle: async (input, call) => {
        const reader = await readerOf(deps, call)
        const found = await findInvoice(deps.database, (input.params as z.infer<typeof params>).id)
        const own =
          found?.payer === reader.address &&
          found.document.lines.every(({ network }) => reader.networks.includes(network))
        if (!found || !own) throw new Problem('not_found', { detail: 'This wallet has no such invoice.' })
        return show(found, call.representation)
      },
    },
  })
}

async function readerOf(deps: InvoiceDeps, call: CallContext): Promise<Payer> {
  const token = /^Bearer ([\w.-]+)$/.exec(call.headers.get('authorization') ?? '')?.[1]
  if (token === undefined) return provenPayer(deps, call)
  const authority = new URL(deps.baseUrl).host
  return payerOf(deps, verifySession({ ...deps, origin: deps.baseUrl, authority }, token))
}

async function show({ id, document, jws }: StoredInvoice, representation: string) {
  const name = { 'Content-Disposition': `inline; filename="${document.number}.pdf"` }
  if (representation === 'application/pdf')
    return { status: 200, contentType: 'application/pdf', headers: name, body: await invoicePdf(document, jws) }
  if (representation === 'text/html')
    return { status: 200, contentType: 'text/html; charset=utf-8', body: invoiceHtml(document, jws) }
  return jsonAnswer({ id, document, jws })
}
