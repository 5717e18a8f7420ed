import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { signRequest } from '../packages/sdk/src/index.ts'
import { postJson } from './harness/post-json.ts'
import { buy, echoPath } from './harness/till-fixture.ts'
import { tokenBalance } from './harness/token-balance.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: ['account', 'sandbox', 'subscriptions', 'rewards'] })
const at = (path: string) => `${till.node.url}${path}`
const text = 'The answer repeats what I said and adds nothing.'

type Shown = { id: string; state: string; refund_micro: string | null; decision: string | null; code?: string }

async function bought(account: PrivateKeyAccount): Promise<string> {
  expect((await buy(account, at(`${echoPath}?message=x`))).status).toBe(200)
  const { rows } = await till.db.owner.query<{ id: string }>(
    'select id from payment where payer = $1 order by claimed_at desc limit 1',
    [account.address.toLowerCase()],
  )
  return rows[0]?.id ?? ''
}
async function dispute(account: PrivateKeyAccount, id: string, body: object = { text }) {
  const response = await fetch(await signRequest(at(`/v1/payments/${id}/dispute`), postJson(body), { account }))
  return { status: response.status, body: (await response.json()) as Shown }
}
const statusOf = async (id: string) =>
  (await (await fetch(at(`/v1/payments/${id}`))).json()) as { state: string; dispute: Shown | null }
async function assay(...args: string[]) {
  const env = { DATABASE_URL: till.db.databaseUrl, BASE_RPC_URLS: till.base.url, POLYGON_RPC_URLS: till.polygon.url }
  const terminal = createTestTerminal({ env })
  return { code: await runCli(args, terminal), out: terminal.stdout() }
}

test('a payer says that an answer is wrong, with evidence; the operator refunds a part and the payer sees why', async () => {
  const buyer = await till.newBuyer()
  const id = await bought(buyer)
  const evidence = { media_type: 'application/json', base64: Buffer.from('{"seen":true}').toString('base64') }
  const opened = await dispute(buyer, id, { text, evidence })
  expect(opened).toMatchObject({ status: 200, body: { state: 'open', evidence_bytes: 13, payment_id: id } })
  expect((await statusOf(id)).dispute).toMatchObject({ id: opened.body.id, state: 'open', decision: null })
  const again = await dispute(buyer, id)
  expect([again.status, again.body.code]).toEqual([409, 'dispute_refused'])

  const listed = JSON.parse((await assay('disputes', 'list', '--json')).out) as { data: { id: string }[] }
  expect(listed.data.map((row) => row.id)).toEqual([opened.body.id])
  expect((await assay('disputes', 'show', opened.body.id)).out).toContain(text)
  const tooMuch = await assay('disputes', 'decide', id, '--refund', '0.002', '--reason', 'x')
  expect(tooMuch.code).toBe(3)
  const decided = await assay('disputes', 'decide', id, '--refund', '0.0004', '--reason', 'half right', '--json')
  expect(JSON.parse(decided.out)).toMatchObject({ state: 'accepted', refund_micro: '400' })
  expect((await assay('disputes', 'decide', id, '--reject', '--reason', 'y')).code).toBe(3)
  await until('the refund arrives', async () => (await tokenBalance(till.base, buyer.address)) === 9_999_400n)
  expect((await statusOf(id)).dispute).toMatchObject({ state: 'accepted', refund_micro: '400', decision: 'half right' })
  const { rows } = await till.db.owner.query('select account, purpose from payout where subject = $1', [id])
  expect(rows).toMatchObject([{ purpose: 'refund', account: expect.stringMatching(/^0x\w{40}\/0x\w{64}\/0$/) }])
}, 120_000)

test('the whole price goes back when the operator agrees, and nothing when it rejects', async () => {
  const buyer = await till.newBuyer()
  const [first, second] = [await bought(buyer), await bought(buyer)]
  await dispute(buyer, first)
  await dispute(buyer, second)
  expect((await assay('disputes', 'decide', first, '--refund', 'all', '--reason', 'right')).code).toBe(0)
  expect((await assay('disputes', 'decide', second, '--reject', '--reason', 'it echoes')).code).toBe(0)
  await until('the refund arrives', async () => (await tokenBalance(till.base, buyer.address)) === 9_999_000n)
  expect(await statusOf(first)).toMatchObject({
    state: 'refunded',
    dispute: { state: 'accepted', refund_micro: '1000' },
  })
  expect(await statusOf(second)).toMatchObject({
    state: 'served',
    dispute: { state: 'rejected', refund_micro: null, decision: 'it echoes' },
  })
  expect(await dispute(buyer, first)).toMatchObject({ status: 409 })
}, 120_000)

test('nobody but the payer can dispute or read it, and not without end', async () => {
  const [buyer, stranger] = [await till.newBuyer(), await till.newBuyer()]
  const id = await bought(buyer)
  expect((await dispute(stranger, id)).status).toBe(404)
  expect((await fetch(at(`/v1/payments/${id}/dispute`), postJson({ text }))).status).toBe(401)
  for (const body of [
    {},
    { text: 'short' },
    { text: 'x'.repeat(4_001) },
    { text, evidence: { media_type: 'text/plain', base64: 'AB=C' } },
    { text, evidence: { media_type: 'text/plain', base64: '' } },
    { text, evidence: { media_type: 'text/plain', base64: 'A'.repeat(43_696) } },
    { text, more: 1 },
  ])
    expect((await dispute(buyer, id, body)).status).toBe(400)
  expect((await dispute(buyer, id)).status).toBe(200)
  const shown = await fetch(await signRequest(at(`/v1/payments/${id}/dispute`), {}, { account: stranger }))
  expect(shown.status).toBe(404)
  const own = await fetch(await signRequest(at(`/v1/payments/${id}/dispute`), {}, { account: buyer }))
  expect(await own.json()).toMatchObject({ state: 'open', text })

  const old = await bought(buyer)
  await till.db.owner.query(`update payment set settled_at = settled_at - interval '31 days' where id = $1`, [old])
  expect((await dispute(buyer, old)).body.code).toBe('dispute_refused')
  const next = await bought(buyer)
  await till.db.owner.query(
    `insert into payment_dispute (id, payment_id, payer, text, opened_at)
     select 'dsp_' || n, 'pay_' || n, $1, 'x', now() from generate_series(1, 9) n`,
    [buyer.address.toLowerCase()],
  )
  expect((await dispute(buyer, next)).status).toBe(429)
}, 60_000)
