import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { citationStatement } from '../packages/node/src/shops/attestations/attest/agent-statement.ts'
import { readCreatorBooks } from '../packages/node/src/shops/attestations/creators/check-books.ts'
import { distributorAt } from '../packages/node/src/shops/attestations/creators/distributor.fixture.ts'
import { royaltyAbi } from '../packages/node/src/shops/royalties/contract.ts'
import { hashRanges } from '../packages/node/src/tlog/tiles.ts'
import { leafHash } from '../packages/node/src/tlog/tree-hash.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import type { Hex } from '../packages/protocol/src/bytes.ts'
import {
  auditEpoch,
  checkTreeHead,
  createAssayClient,
  readLog,
  readTreeHead,
  setPayoutThreshold,
} from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/accounts.ts'
import { clients, usdcAbi, usdcBalance } from '../packages/till/src/devnet/test-chain.fixture.ts'
import { statementTypedData } from '../packages/till/src/proofs/index.ts'
import { postJson } from './harness/post-json.ts'
import { buy } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

let page: string
let quoteText: string
const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)
const creator = demoAccount('creator').address

const till = useTill({
  ownShops: ['account', 'sandbox', 'log', 'sources', 'attestations', 'royalties'],
  env: { CITATIONS: '{"root_seconds":1,"threshold_usd":"0.01"}', TLOG: '{"anchor_minutes":0.03}' },
})
beforeAll(async () => {
  const { rows } = await till.db.database.query<{ url: string; text: string }>(
    `select v.url, v.text from page_version v join source s on s.domain = v.domain
     where s.state = 'proven' and length(v.text) > 400 order by v.url limit 1`,
  )
  page = rows[0]?.url ?? ''
  quoteText = (rows[0]?.text ?? '').slice(100, 180)
}, 120_000)

// biome-ignore lint/suspicious/noExplicitAny: answers are read by hand here
type Answer = { status: number; json: any }

const url = (path: string) => `${till.node.url}${path}`
const attest = async (body: Record<string, unknown>, payer = buyer): Promise<Answer> => {
  const response = await buy(payer, url('/v1/cite/attest'), {}, postJson(body))
  return { status: response.status, json: await response.json() }
}
const read = async (path: string): Promise<Answer> => {
  const response = await fetch(path.startsWith('http') ? path : url(path))
  return { status: response.status, json: await response.json() }
}
const count = async (table: string) =>
  Number((await till.db.database.query<{ n: bigint }>(`select count(*) as n from ${table}`)).rows[0]?.n)

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
  expect(shown.json.attestation).toEqual(json.attestation)
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
  expect(settled.payouts[0].merkle_proof).toMatchObject({ micro: expect.stringMatching(/^[1-9]\d*$/) })
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
})

test('anybody can compare an epoch with the log, and sees it when a leaf says more than its entries', async () => {
  const client = createAssayClient({ account: buyer, networks: [], maxPerCallUsd: '0' })
  const { rows } = await till.db.database.query<{ contract: Address; epoch: bigint; id: bigint }>(
    `select contract, epoch, id from creator_root where state = 'committed' order by epoch desc limit 1`,
  )
  const { contract, epoch, id } = rows[0] as (typeof rows)[number]
  const chain = async () => {
    const [root, potMicro] = await distributorAt(till.base, contract).read<[Hex, bigint]>('epochs', [epoch])
    return { root, potMicro }
  }
  const audit = () => auditEpoch(client, till.node.url, { network: 'eip155:8453', epoch, chain })
  const honest = await audit()
  expect(honest.problems).toEqual([])
  expect(honest).toMatchObject({ equal: true, chain_root: honest.recomputed, root: honest.recomputed })
  expect(honest.entries).toBeGreaterThan(0)
  // A node that gives somebody more than the log says, and a root that fits it.
  await till.db.owner.query('update creator_leaf set micro = micro + 1 where root_id = $1', [id])
  const lying = await audit()
  await till.db.owner.query('update creator_leaf set micro = micro - 1 where root_id = $1', [id])
  expect(lying.equal).toBe(false)
  expect(lying.problems.join()).toContain('more than its entries say')
  expect(lying.problems.join()).toContain('the contract has the root')
  // A node that pays for an entry that is in no log.
  await till.db.owner.query(`update creator_accrual set subject = 'att_none' || id where root_id = $1`, [id])
  await expect(audit()).rejects.toThrow()
  await till.db.owner.query(
    `update creator_accrual c set subject = a.id from attestation a where c.root_id = $1 and c.payment_id = a.payment_id`,
    [id],
  )
  expect((await audit()).equal).toBe(true)
})

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

test('a page that is fetched for a citation is stored with its payment, once for all spellings of its address', async () => {
  // Crawled too long ago to be cited without reading it again.
  const { rows } = await till.db.owner.query<{ url: string; domain: string }>(
    `update crawl_page set fetched_at = fetched_at - interval '2 hours' where url =
       (select v.url from page_version v join source s on s.domain = v.domain where s.state = 'proven'
        order by v.url desc limit 1) returning url, domain`,
  )
  const { url, domain } = rows[0] ?? { url: '', domain: '' }
  const stored = () =>
    till.db.owner.query('select p.url, t.attestation from cited_page p join cited_text t using (text_sha256)')
  const unknown = { source_url: url, agent_wallet: buyer.address, query_id: `qry_${'0'.repeat(26)}` }
  expect((await attest(unknown)).json).toMatchObject({ code: 'input_invalid' })
  expect((await stored()).rows).toEqual([])
  const spelled = `${url.replace(domain, `${domain.toUpperCase()}.`)}?utm_source=test&gclid=1`
  const { status, json } = await attest({ source_url: spelled, agent_wallet: buyer.address })
  expect([status, json.record.source_url, json.record.domain]).toEqual([200, url, domain])
  expect((await stored()).rows).toEqual([{ url, attestation: json.id }])
  expect((await attest({ source_url: url, agent_wallet: buyer.address })).status).toBe(200)
  expect((await stored()).rows).toEqual([{ url, attestation: json.id }])
})

test('a quote that is not on the page is said not to be, and is not stamped as quoted', async () => {
  const { json } = await attest({
    source_url: page,
    agent_wallet: buyer.address,
    quote: 'words that are nowhere at all',
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

test('an agent that lives on the money of the creator it cites is found on chain: paid later, and it counts for nothing', async () => {
  const agent = privateKeyToAccount(generatePrivateKey())
  const { wallet } = clients(till.base)
  await wallet.sendTransaction({
    account: privateKeyToAccount(demoAccount('creator').privateKey),
    to: till.base.usdc,
    data: encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [agent.address, 1_000_000n] }),
  })
  const funded = agent.address.toLowerCase() as `0x${string}`
  await until('funded', async () => (await usdcBalance(till.base, funded)) === 1_000_000n)
  const { json } = await attest({ source_url: page, agent_wallet: agent.address }, agent)
  const checked = await until('checked', async () => {
    const shown = (await read(json.url)).json
    return shown.weight.counts === false && shown
  })
  expect(checked.weight.reasons).toEqual(['same_funding_cluster'])
  expect(checked.payouts[0]).toMatchObject({ state: 'held', micro: '4500' })
})

test('a claim pays its sources in equal parts, and a royalty on it goes back to them', async () => {
  const { rows } = await till.db.database.query<{ url: string }>(
    `select v.url from page_version v join source s on s.domain = v.domain where s.state = 'proven' order by v.url desc limit 3`,
  )
  const sources = rows.map((row) => row.url)
  const bought = await buy(
    buyer,
    url('/v1/claims/anchor'),
    {},
    postJson({ statement: 'Short interest rose.', sources, agent_wallet: buyer.address }),
  )
  const claim = (await bought.json()) as Answer['json']
  expect(claim).toMatchObject({ split: { toll_micro: '500', creator_micro: '4500' }, log: { state: 'logged' } })
  expect(claim.payouts.map((payout: { micro: string }) => payout.micro)).toEqual(['1500', '1500', '1500'])
  const info = await read('/v1/royalties/info?sale_price=1000001')
  expect(info.json).toMatchObject({ royalty_amount: '25000', bps: 250 })
  const remitted = await buy(
    buyer,
    url('/v1/royalties/remit'),
    {},
    postJson({ parent: claim.id, sale_price_micro: '1000000' }),
  )
  const royalty = (await remitted.json()) as Answer['json']
  expect(remitted.status).toBe(200)
  expect(royalty).toMatchObject({ royalty_micro: '25000', record: { parent: claim.id } })
  expect(royalty.payouts.map((payout: { micro: string }) => payout.micro)).toEqual(['7500', '7500', '7500'])
  const again = await buy(
    buyer,
    url('/v1/royalties/remit'),
    {},
    postJson({ parent: royalty.id, sale_price_micro: '40' }),
  )
  const child = (await again.json()) as Answer['json']
  expect(child.record.derived_from.map((one: { id: string }) => one.id)).toEqual([royalty.id, claim.id])
  expect((await read(royalty.url)).json.remitted_for_this).toEqual([{ id: child.id, royalty_micro: '1' }])
  const unknown = await buy(
    buyer,
    url('/v1/royalties/remit'),
    {},
    postJson({ parent: 'att_00000000000000000000000000', sale_price_micro: '40' }),
  )
  expect(unknown.status).toBe(404)
})

test('the contract on chain names the same royalty', async () => {
  const { json } = await read('/v1/royalties/info?sale_price=123456789')
  await until('deployed', async () => {
    const code = (await till.base.request('eth_getCode', [json.contract, 'latest'])) as string
    return code.length > 2
  })
  const answer = (await till.base.request('eth_call', [
    {
      to: json.contract,
      data: encodeFunctionData({ abi: royaltyAbi, functionName: 'royaltyInfo', args: [1n, 123_456_789n] }),
    },
    'latest',
  ])) as `0x${string}`
  expect(decodeFunctionResult({ abi: royaltyAbi, functionName: 'royaltyInfo', data: answer })).toEqual([
    json.receiver,
    BigInt(json.royalty_amount),
  ])
})

test('the log is served as static tiles that give the root which its witnesses signed', async () => {
  const note = await (await fetch(url('/v1/log/checkpoint'))).text()
  const [origin, size, root] = note.split('\n')
  expect(origin).toBe(`${new URL(till.node.url).host}/v1/log`)
  const width = Number(size) % 256
  const path = width === Number(size) ? `000.p/${width}` : '000'
  const tile = await fetch(url(`/v1/log/tile/0/${path}`))
  expect(tile.headers.get('cache-control')).toContain('immutable')
  const hashes = Buffer.from(await tile.arrayBuffer())
  expect(hashes.length).toBe(32 * (width === Number(size) ? width : 256))
  const bundle = Buffer.from(await (await fetch(url(`/v1/log/tile/entries/${path}`))).arrayBuffer())
  const first = bundle.subarray(2, 2 + bundle.readUInt16BE(0))
  expect(leafHash(first)).toEqual(hashes.subarray(0, 32))
  if (width === Number(size)) {
    const tiles = new Map([['0/0', hashes]])
    expect(hashRanges([{ from: 0, until: width }], tiles)[0]?.toString('base64')).toBe(root)
  }
  expect((await fetch(url('/v1/log/tile/0/999'))).status).toBe(404)
  expect((await fetch(url('/v1/log/tile/0/0'))).status).toBe(404)
})

test('a program reads the log with its witnesses, and a creator sets from when on it is paid', async () => {
  const account = privateKeyToAccount(demoAccount('creator').privateKey)
  const client = createAssayClient({ account, networks: [], maxPerCallUsd: '0' })
  const log = await readLog(client, till.node.url)
  const head = await until('witnessed', async () => {
    const seen = await readTreeHead(client, till.node.url, log)
    return seen.witnesses.length === 2 && seen
  })
  expect(head).toMatchObject({ origin: log.origin, signed: true, root: expect.stringMatching(/^[0-9a-f]{64}$/) })
  const forged = head.note.replace(/^\d+$/m, '1')
  expect(await checkTreeHead(forged, log)).toMatchObject({ signed: false, witnesses: [] })
  const changed = await setPayoutThreshold(client, till.node.url, { account, thresholdUsd: '2' })
  expect(changed.chains.map(({ threshold_micro }) => threshold_micro)).toContain('2000000')
})

test('tree heads are anchored on chain, with the signatures in the call', async () => {
  const anchor = await until('anchored', async () => {
    const { json } = await read('/v1/log')
    return json.anchors.find((one: { anchored_at: string | null }) => one.anchored_at !== null)
  })
  const sent = (await till.base.request('eth_getTransactionByHash', [anchor.transaction])) as { input: string }
  expect(Buffer.from(sent.input.slice(2), 'hex').toString('latin1')).toContain(`/v1/log\n${anchor.size}\n`)
})
