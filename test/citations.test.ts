import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { citationStatement } from '../packages/node/src/citations/attest/agent-statement.ts'
import { readCreatorBooks } from '../packages/node/src/citations/creators/check-books.ts'
import { demoAccount } from '../packages/node/src/devnet/accounts.ts'
import { usdcBalance } from '../packages/node/src/devnet/test-chain.ts'
import { statementTypedData } from '../packages/node/src/proofs/index.ts'
import { buy, openTill, type TillFixture } from './support/till-fixture.ts'

let till: TillFixture
let page: string
let quoteText: string
const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)
const creator = demoAccount('creator').address

beforeAll(async () => {
  till = await openTill({ env: { CITATIONS: '{"root_seconds":1,"threshold_usd":"0.01"}' } })
  const { rows } = await till.db.database.query<{ url: string; text: string }>(
    `select v.url, v.text from page_version v join source s on s.domain = v.domain
     where s.state = 'proven' and length(v.text) > 400 order by v.url limit 1`,
  )
  page = rows[0]?.url ?? ''
  quoteText = (rows[0]?.text ?? '').slice(100, 180)
}, 120_000)
afterAll(() => till.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are read by hand here
type Answer = { status: number; json: any }

const url = (path: string) => `${till.node.url}${path}`
const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const attest = async (body: Record<string, unknown>, payer = buyer): Promise<Answer> => {
  const response = await buy(payer, url('/v1/cite/attest'), {}, post(body))
  return { status: response.status, json: await response.json() }
}
const read = async (path: string): Promise<Answer> => {
  const response = await fetch(path.startsWith('http') ? path : url(path))
  return { status: response.status, json: await response.json() }
}
const count = async (table: string) =>
  Number((await till.db.database.query<{ n: bigint }>(`select count(*) as n from ${table}`)).rows[0]?.n)

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const deadline = Date.now() + 40_000; Date.now() < deadline; ) {
    const seen = await look()
    if (seen) return seen
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`never came about: ${what}`)
}

test('a citation is stamped, logged with its proof, and split with the creator', async () => {
  const { status, json } = await attest({ source_url: page, agent_wallet: buyer.address, quote: quoteText })
  expect(json).toMatchObject({
    split: { price_micro: '5000', creator_micro: '4500', toll_micro: '500' },
    record: { source_url: page, quote: { found: true }, agent_wallet: buyer.address, synthetic: true },
    payouts: [{ micro: '4500', state: 'accrued' }],
    log: { state: 'logged' },
  })
  expect(status).toBe(200)
  expect(json.payouts[0].wallet.toLowerCase()).toBe(creator)
  const shown = await read(json.url)
  expect(shown.json.record).toEqual(json.record)
})

test('the share goes to the chain in a backed root, is sent to the creator, and all three books agree', async () => {
  const before = await usdcBalance(till.base, creator)
  const answers: Answer[] = []
  for (let n = 0; n < 3; n += 1) answers.push(await attest({ source_url: page, agent_wallet: buyer.address }))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const settled = await until('settled', async () => {
    const { json } = await read(answers[2]?.json.url)
    return json.payouts[0].state === 'settled' && json
  })
  expect(settled.payouts[0].commit_transaction).toMatch(/^0x[0-9a-f]{64}$/)
  expect(settled.payouts[0].settle_transaction).toMatch(/^0x[0-9a-f]{64}$/)
  expect(settled.log.witnesses).toHaveLength(2)
  const books = await readCreatorBooks(till.db.database, 'eip155:8453')
  expect(books).toMatchObject({ waitingLedger: 0n })
  expect(books.accruedRows).toBe(books.accruedLedger)
  expect(books.committedRows).toBe(books.committedLedger)
  expect(books.distributorLedger).toBe(books.committedLedger)
  const { json } = await read(`/v1/creators/${creator}`)
  const base = json.chains[0]
  expect(await usdcBalance(till.base, base.distributor.toLowerCase())).toBe(books.committedLedger)
  expect((await usdcBalance(till.base, creator)) - before).toBe(BigInt(base.claimed_micro))
  expect(BigInt(json.earned_micro)).toBe(18_000n)
}, 60_000)

test('a page that cannot be read, is private or is elsewhere costs nothing and is not logged', async () => {
  const [payments, entries] = [await count('ledger_transaction'), await count('attestation')]
  const balance = await usdcBalance(till.base, demoAccount('buyer').address)
  const host = new URL(page).host
  for (const [source_url, status] of [
    [`http://${host}/no-such-page`, 422],
    ['ftp://example.com/a', 400],
    ['http://127.0.0.1/a', 400],
    ['http://user:pw@example.com/', 400],
    ['http://localhost/', 400],
    ['not a url', 400],
  ] as const) {
    const answer = await attest({ source_url, agent_wallet: buyer.address })
    expect(answer.status, source_url).toBe(status)
    expect(answer.json.code, source_url).toMatch(/^(?:input_invalid|page_unreadable)$/)
  }
  expect(await count('attestation')).toBe(entries)
  expect(await usdcBalance(till.base, demoAccount('buyer').address)).toBe(balance)
  expect(await count('ledger_transaction')).toBeGreaterThanOrEqual(payments)
})

test('a quote that is not on the page is said not to be, and is not stamped as quoted', async () => {
  const { json } = await attest({
    source_url: page,
    agent_wallet: buyer.address,
    quote: 'words that stand nowhere at all',
  })
  expect(json.record.quote).toMatchObject({ found: false, offset: null, text_fragment: null })
})

test('only the payer, or a wallet that signed for it, can be named as the agent', async () => {
  const agent = privateKeyToAccount(generatePrivateKey())
  const refused = await attest({ source_url: page, agent_wallet: agent.address })
  expect(refused).toMatchObject({ status: 403, json: { code: 'agent_unproven' } })
  const typed = statementTypedData(
    citationStatement({
      agent: agent.address.toLowerCase() as `0x${string}`,
      payer: buyer.address.toLowerCase() as `0x${string}`,
      sourceUrl: page,
      quoteSha256: undefined,
      claimSha256: undefined,
    }),
    till.node.url,
    8453,
  )
  const agent_signature = await agent.signTypedData(typed as never)
  const signed = await attest({ source_url: page, agent_wallet: agent.address, agent_signature })
  expect(signed).toMatchObject({ status: 200, json: { record: { agent_wallet: agent.address, payer: buyer.address } } })
  const stranger = await till.newBuyer()
  const stolen = await attest({ source_url: page, agent_wallet: agent.address, agent_signature }, stranger)
  expect(stolen.status).toBe(403)
})

test('citing oneself is paid but held, and counts for nothing', async () => {
  const self = privateKeyToAccount(demoAccount('creator').privateKey)
  const { json } = await attest({ source_url: page, agent_wallet: self.address }, self)
  expect(json.weight).toEqual({ counts: false, reasons: ['payer_is_creator', 'agent_is_creator'] })
  expect(json.payouts[0]).toMatchObject({ state: 'held', micro: '4500' })
})
