import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { openLocalSite } from './harness/local-site.ts'
import { buy, openTill, quote, send, signPayment } from './harness/till-fixture.ts'

const domain = 'unpaid.test'
const page = '<html><head><title>One</title></head><body><p>Words that can be cited.</p></body></html>'
const site = await openLocalSite({ '/page': page })
const till = await openTill({
  ownShops: ['account', 'sandbox', 'log', 'sources', 'match', 'attestations', 'royalties'],
  env: { DEMO_HOSTS: `${domain}=127.0.0.1:${site.port}` },
})
afterAll(async () => {
  await till?.close()
  await site?.close()
})

const post = (body: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const kept = async () => {
  const { rows } = await till.db.database.query<Record<string, bigint>>(
    `select (select count(*) from cited_page) as pages, (select count(*) from cited_text) as texts,
       (select count(*) from attestation) as attestations, (select count(*) from log_entry where kind = 'attestation') as leaves`,
  )
  return rows[0]
}

test('an unpaid request makes the node fetch and store nothing', async () => {
  const url = `${till.node.url}/v1/cite/attest`
  const poor = privateKeyToAccount(generatePrivateKey())
  const rich = await till.newBuyer()
  const [before, asked] = [await kept(), site.requests.length]
  for (let n = 0; n < 20; n += 1) {
    const body = { source_url: `http://${domain}/page?n=${n}`, agent_wallet: poor.address }
    const offer = await quote(url, post(body))
    expect((await fetch(url, post({ ...body, query_id: `qry_${n}` }))).status).toBe(402)
    // Nothing to pay with, too little, for somebody else's page, and run out.
    const attempts = [
      signPayment(poor, offer),
      signPayment(rich, offer, { value: 1n }),
      signPayment(rich, offer, {
        signature: (signature) => `${signature.slice(0, 20)}00${signature.slice(22)}` as `0x${string}`,
      }),
      signPayment(rich, offer, { validBefore: 1n }),
    ]
    for (const payment of attempts)
      expect((await send(url, await payment, post(body))).status).toBeGreaterThanOrEqual(400)
    // A match that does not exist is refused before the page is requested, paid or not.
    const matched = { ...body, agent_wallet: rich.address, query_id: `qry_${n}` }
    expect((await buy(rich, url, {}, post(matched))).status).toBe(400)
  }
  expect(site.requests.slice(asked).map(({ path }) => path)).toEqual([])
  expect(await kept()).toEqual(before)
  const paid = await buy(rich, url, {}, post({ source_url: `http://${domain}/page`, agent_wallet: rich.address }))
  expect(paid.status, await paid.clone().text()).toBe(200)
  expect(site.requests.length).toBeGreaterThan(asked)
  expect(await kept()).not.toEqual(before)
}, 120_000)
