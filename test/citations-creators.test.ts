import { createServer } from 'node:http'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { readCreatorBooks } from '../packages/node/src/shops/attestations/creators/check-books.ts'
import { signRequest } from '../packages/sdk/src/index.ts'
import { demoAccount } from '../packages/till/src/devnet/accounts.ts'
import { requestRefund } from '../packages/till/src/internal.ts'
import type { Clock } from '../packages/till/src/kernel/clock.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { onLoopback } from '../packages/till/src/kernel/on-loopback.fixture.ts'
import { accounts, balanceDifferences, owedTo } from '../packages/till/src/ledger/index.ts'
import { postJson } from './harness/post-json.ts'
import { buy, openTill } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

const network = 'eip155:8453'
const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)
const day = 86_400_000
let aheadMs = 0
let creatorRounds = 0
const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }

const site = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end('<html><body><article><h1>Page</h1><p>Words that nobody has claimed yet.</p></article></body></html>')
})
const { port, close } = await onLoopback(site)
const till = await openTill({
  ownShops: ['account', 'sandbox', 'log', 'sources', 'attestations', 'royalties'],
  env: {
    DEMO_HOSTS: `unclaimed.test=127.0.0.1:${port},later.test=127.0.0.1:${port}`,
    // Roots are made by hand of the clock only where a test wants them.
    CITATIONS: '{"root_seconds":1,"root_minimum_usd":"900","wait_days":180,"release_days":7}',
  },
  clock,
  intercept: {
    job: (name, round) => async () => {
      await round()
      if (name === 'citations.creators') creatorRounds += 1
    },
  },
})
afterAll(async () => {
  await till.close()
  await close()
})

// biome-ignore lint/suspicious/noExplicitAny: answers are read by hand here
async function attest(source_url: string): Promise<any> {
  const response = await buy(
    buyer,
    `${till.node.url}/v1/cite/attest`,
    {},
    postJson({ source_url, agent_wallet: buyer.address }),
  )
  const json = await response.json()
  expect(response.status, JSON.stringify(json)).toBe(200)
  return json
}
// biome-ignore lint/suspicious/noExplicitAny: see above
const show = async (id: string): Promise<any> => (await fetch(`${till.node.url}/v1/attestations/${id}`)).json()

async function expectBooksToAgree(): Promise<void> {
  const books = await readCreatorBooks(till.db.database, network)
  expect(books.accruedRows).toBe(books.accruedLedger - books.receivableLedger)
  expect(books.waitingRows).toBe(books.waitingLedger)
  expect(books.committedRows).toBe(books.committedLedger)
  expect(await balanceDifferences(till.db.database)).toEqual([])
}

test('the share of a source that nobody has proven waits, and the answer says so', async () => {
  const cited = await attest('http://unclaimed.test/page')
  expect(cited.payouts).toMatchObject([{ state: 'waiting', wallet: null, micro: '4500', domain: 'unclaimed.test' }])
  expect(cited.payouts[0].note).toContain('180 days')
  await expectBooksToAgree()
})

test('a sale that was refunded takes the share back, to the micro', async () => {
  const cited = await attest('http://unclaimed.test/refunded')
  await until('final', async () => {
    const { rows } = await till.db.database.query<{ final: boolean }>('select final from payment where id = $1', [
      cited.record.payment_id,
    ])
    return rows[0]?.final === true
  })
  const asked = await requestRefund(till.db.database, {
    paymentId: cited.record.payment_id,
    reason: 'test',
    by: 'operator',
  } as never)
  expect(asked).toBeDefined()
  await until('reversed', async () => (await show(cited.id)).payouts[0]?.state === 'reversed')
  await expectBooksToAgree()
})

test('a reorg that takes the payment away takes the share with it, and both come back when it lands again', async () => {
  const { control } = till.base
  control.setFinalityLag(20)
  await control.mine(1)
  const cited = await attest('http://unclaimed.test/reorged')
  const stored = await till.db.database.query<{ block: bigint }>(
    'select block_number as block from payment where id = $1',
    [cited.record.payment_id],
  )
  // Other jobs send transactions too: deep enough to reach the payment whatever was mined since.
  const depth = control.head().number - Number(stored.rows[0]?.block) + 4
  // Until it was seen to be gone, nothing is mined: our own transaction would be sent again and land at once.
  await control.holdMining()
  const { dropped } = await control.reorg(depth, { drop: [cited.record.transaction] })
  expect(dropped).toEqual([cited.record.transaction])
  control.setFinalityLag(0)
  const sharesOf = async () => {
    const { rows } = await till.db.database.query<{ round: number; state: string; micro: bigint }>(
      'select round, state, micro from creator_accrual where subject = $1 order by id',
      [cited.id],
    )
    return rows
  }
  await until('reversed', async () => (await sharesOf())[0]?.state === 'reversed')
  // The sale ends a second time: the share is posted again, nothing is stamped again.
  await control.releaseMining()
  await until('landed again', async () => (await show(cited.id)).payouts[0]?.state === 'waiting')
  expect(await sharesOf()).toEqual([
    { round: 0, state: 'reversed', micro: 4_500n },
    { round: 0, state: 'reversed', micro: -4_500n },
    { round: 1, state: 'waiting', micro: 4_500n },
  ])
  await expectBooksToAgree()
  expect((await show(cited.id)).record).toEqual(cited.record)
})

test('only the wallet itself sets from when on it is paid', async () => {
  const creator = privateKeyToAccount(demoAccount('creator').privateKey)
  const url = `${till.node.url}/v1/creators/${creator.address}/threshold`
  const set = async (account: typeof creator, threshold_usd: string) => {
    const body = JSON.stringify({ threshold_usd })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    return fetch(await signRequest(url, init, { account }))
  }
  const done = await set(creator, '2.50')
  expect(done.status).toBe(200)
  // biome-ignore lint/suspicious/noExplicitAny: see above
  expect(((await done.json()) as any).chains[0].threshold_micro).toBe('2500000')
  expect((await set(buyer, '3')).status).toBe(403)
  expect((await set(creator, '0')).status).toBe(400)
  const bare = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"threshold_usd":"3"}' }
  expect((await fetch(url, bare)).status).toBe(401)
  const { rows } = await till.db.database.query<{ micro: bigint }>(
    'select threshold_micro as micro from creator_setting where wallet = $1',
    [creator.address.toLowerCase()],
  )
  expect(rows[0]?.micro).toBe(2_500_000n)
})

test('keys, scores and citations are leaves of one log', async () => {
  await until('placed', async () => {
    const { rows } = await till.db.database.query<{ kinds: string[] }>(
      `select array_agg(distinct kind order by kind) as kinds from log_entry where leaf_index is not null`,
    )
    return ['citation', 'key', 'score'].every((kind) => rows[0]?.kinds.includes(kind))
  })
  const { rows } = await till.db.database.query<{ kind: string; entry: Buffer }>(
    `select distinct on (kind) kind, entry from log_entry where kind in ('key', 'score') order by kind, id`,
  )
  expect(rows.map(({ entry }) => JSON.parse(entry.toString()).type)).toEqual(['assay.key/v1', 'assay.score/v1'])
})

test('after a proof it is released with a delay; without one it returns to the payer as credit', async () => {
  const before = await owedTo(till.db.database, accounts.credit(network, demoAccount('buyer').address))
  const cited = await attest('http://later.test/page')
  const wallet = demoAccount('affiliate').address
  // The proof itself is another test's business: here the domain simply is proven, some days ago.
  await till.db.owner.query(
    `insert into source (domain, registrable, display, origin, state, registered_at, updated_at)
     values ('later.test', 'later.test', 'later.test', 'http://later.test', 'proven', now(), now())`,
  )
  await till.db.owner.query(
    `insert into source_claim (id, domain, wallet, kind, token, token_expires_at, state, method, proven_at, wallet_proven_at,
       created_at, next_check_at)
     values ('clm_test', 'later.test', $1, 'claim', repeat('a', 43), now(), 'proven', 'dns', now(), now(), now(), now() + interval '9 years')`,
    [wallet],
  )
  await till.db.owner.query(`update source set proven_claim = 'clm_test' where domain = 'later.test'`)
  const roundsBefore = creatorRounds
  await until('two rounds of the job', async () => creatorRounds >= roundsBefore + 2)
  expect((await show(cited.id)).payouts[0].state).toBe('waiting')
  aheadMs = 8 * day
  await until('released', async () => (await show(cited.id)).payouts[0].state === 'accrued')
  expect((await show(cited.id)).payouts[0].wallet.toLowerCase()).toBe(wallet)
  await expectBooksToAgree()
  const waiting = await till.db.database.query<{ micro: bigint }>(
    `select sum(micro)::bigint as micro from creator_accrual where state = 'waiting'`,
  )
  aheadMs = 181 * day
  await until('expired', async () => {
    const { rows } = await till.db.database.query<{ n: bigint }>(
      `select count(*) as n from creator_accrual where state = 'waiting'`,
    )
    return rows[0]?.n === 0n
  })
  const after = await owedTo(till.db.database, accounts.credit(network, demoAccount('buyer').address))
  expect(after - before).toBe(waiting.rows[0]?.micro)
  await expectBooksToAgree()
})
