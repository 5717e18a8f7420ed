import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { requestChallenge, signIn, signRequest } from '../packages/sdk/src/index.ts'
import { postJson } from './harness/post-json.ts'
import { buy, echoPath } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const seller = { seller_name: 'Assay Test Ltd', seller_address: '1 Test Street\nTestville', seller_tax_id: 'XX123' }
const till = useTill({
  ownShops: ['account', 'sandbox'],
  env: { INVOICES: JSON.stringify({ ...seller, tax_rate: '0.19', prefix: 'T-' }) },
})
const at = (path: string) => `${till.node.url}${path}`
const buyerFields = { name: '<b>Zoë & Sons</b>', address: '2 Buyer Road', tax_id: 'YY9' }

type Issued = {
  id: string
  jws: string
  code?: string
  invoices?: string[]
  document: { number: string; lines: { payment_id: string }[]; total_micro: string; tax_micro: string; kind: string }
}

async function finalPayments(account: PrivateKeyAccount, count: number): Promise<string[]> {
  for (let n = 0; n < count; n += 1) expect((await buy(account, at(`${echoPath}?message=${n}`))).status).toBe(200)
  const read = async () =>
    (
      await till.db.owner.query<{ id: string; final: boolean }>(
        'select id, final from payment where payer = $1 order by claimed_at',
        [account.address.toLowerCase()],
      )
    ).rows
  await until('payments are final', async () => (await read()).every(({ final }) => final))
  return (await read()).map(({ id }) => id)
}
async function ask(account: PrivateKeyAccount, body: object) {
  const response = await fetch(await signRequest(at('/v1/invoices'), postJson(body), { account }))
  return { status: response.status, body: (await response.json()) as Issued }
}
const read = async (account: PrivateKeyAccount, id: string, accept: string) =>
  fetch(await signRequest(at(`/v1/invoices/${id}`), { headers: { accept } }, { account }))

test('a payer gets a numbered, signed invoice with tax for its payments, each once', async () => {
  const buyer = await till.newBuyer()
  const ids = await finalPayments(buyer, 3)
  const [first, second, third] = ids as [string, string, string]
  const one = await ask(buyer, { payment_ids: [first], buyer: buyerFields })
  expect(one).toMatchObject({
    status: 200,
    body: {
      document: {
        kind: 'invoice',
        number: 'T-000001',
        seller: { name: 'Assay Test Ltd', tax_id: 'XX123', url: till.node.url },
        buyer: { ...buyerFields, wallet: buyer.address },
        lines: [{ payment_id: first, amount_micro: '1000', refunded_micro: '0' }],
        ...{ total_micro: '1000', tax_rate: '0.1900', tax_micro: '160', net_micro: '840' },
      },
    },
  })
  const [, payload = ''] = one.body.jws.split('.')
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual(one.body.document)

  const again = await ask(buyer, { payment_ids: [first, second] })
  expect([again.status, again.body.code, again.body.invoices]).toEqual([409, 'invoiced_before', [one.body.id]])
  await till.db.owner.query(
    `insert into refund (payment_id, amount_micro, reason, requested_by, state) values ($1, 400, 'test', 'test', 'paying')`,
    [third],
  )
  const rest = await ask(buyer, { payment_ids: [second, third] })
  expect(rest.body.document).toMatchObject({ number: 'T-000002', total_micro: '1600' })
  await till.db.owner.query('delete from refund where payment_id = $1', [third])
}, 60_000)

test('it is JSON, a page to print, and a PDF, for its buyer and for nobody else', async () => {
  const [buyer, stranger] = [await till.newBuyer(), await till.newBuyer()]
  await finalPayments(buyer, 2)
  const today = new Date().toISOString().slice(0, 10)
  const { body } = await ask(buyer, { from: today, to: today, buyer: buyerFields })
  expect(body.document.lines).toHaveLength(2)

  const html = await read(buyer, body.id, 'text/html')
  expect(html.headers.get('content-type')).toContain('text/html')
  expect(html.headers.get('signature')).not.toBeNull()
  const page = await html.text()
  expect(page).toContain('&lt;b&gt;Zoë &amp; Sons&lt;/b&gt;')
  expect(page).not.toContain('<b>Zoë')
  expect(page).toContain(body.jws)

  const pdf = await read(buyer, body.id, 'application/pdf')
  expect(pdf.headers.get('content-type')).toBe('application/pdf')
  expect(pdf.headers.get('signature')).not.toBeNull()
  const bytes = Buffer.from(await pdf.arrayBuffer())
  expect([bytes.subarray(0, 5).toString(), bytes.includes('%%EOF')]).toEqual(['%PDF-', true])

  expect((await read(stranger, body.id, 'application/json')).status).toBe(404)
  expect((await fetch(at(`/v1/invoices/${body.id}`))).status).toBe(401)
  const proof = await signIn(await requestChallenge(till.node.url), { account: buyer, origin: till.node.url })
  const session = await fetch(at('/v1/auth/session'), { method: 'POST', headers: { 'SIGN-IN-WITH-X': proof } })
  const { token } = (await session.json()) as { token: string }
  const shown = await fetch(at(`/v1/invoices/${body.id}`), { headers: { authorization: `Bearer ${token}` } })
  expect(await shown.json()).toEqual(body)
}, 60_000)

test('nobody is invoiced for what another wallet paid, and wrong questions say so', async () => {
  const [buyer, stranger] = [await till.newBuyer(), await till.newBuyer()]
  const [id] = (await finalPayments(buyer, 1)) as [string]
  expect((await ask(stranger, { payment_ids: [id] })).status).toBe(404)
  expect((await fetch(at('/v1/invoices'), postJson({ payment_ids: [id] }))).status).toBe(401)
  for (const body of [
    {},
    { payment_ids: [id], from: '2026-01-01', to: '2026-01-02' },
    { from: '2026-01-01' },
    { from: '2026-02-31', to: '2026-03-01' },
    { from: '2026-01-02', to: '2026-01-01' },
    { payment_ids: [] },
    { payment_ids: [id], buyer: { name: 'x'.repeat(201) } },
  ])
    expect((await ask(buyer, body)).status, JSON.stringify(body)).toBe(400)
  expect((await ask(buyer, { from: '2020-01-01', to: '2020-01-02' })).status).toBe(404)
}, 60_000)
