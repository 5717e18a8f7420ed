import type { PrivateKeyAccount } from 'viem/accounts'
import { streamRouteId } from '../../packages/node/src/shops/subscriptions/index.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { signRequest } from '../../packages/sdk/src/index.ts'
import { accounts, owedTo } from '../../packages/till/src/ledger/index.ts'
import { validSeconds, type Wanted } from '../harness/buy-through-death.ts'
import { channelBuyer, depositPayload, voucherPayload } from '../harness/channel-client.ts'
import { signCredential } from '../harness/mpp-client.ts'
import type { NodeVariant } from '../harness/node-variants.ts'
import { approvePermit2, signPermit } from '../harness/permit2-client.ts'
import { postJson } from '../harness/post-json.ts'
import { sendTransaction } from '../harness/send-transaction.ts'
import { buy, encodePayload, quote, type TillFixture } from '../harness/till-fixture.ts'
import { until } from '../harness/until.ts'

/** One way in which money comes in by a request, and what it must leave behind, once. */
export type RequestPath = {
  name: string
  variant: NodeVariant
  fundedMicro: bigint
  wanted(till: TillFixture, buyer: PrivateKeyAccount): Promise<Wanted>
  /** What is there for the buyer now; the right answer is 1. */
  effects(till: TillFixture, buyer: PrivateKeyAccount): Promise<number>
  /** Paid from credit: nothing moves on chain during the call itself. */
  draws?: boolean
}

const countRows = (sql: string) => async (till: TillFixture, buyer: PrivateKeyAccount) => {
  const { rows } = await till.db.owner.query<{ n: bigint }>(sql, [buyer.address.toLowerCase()])
  return Number(rows[0]?.n)
}

const served = (route: string) =>
  countRows(`select count(*) as n from payment where payer = $1 and state = 'served' and route_id = '${route}'`)

const creditMicro = (till: TillFixture, buyer: PrivateKeyAccount) =>
  owedTo(till.db.owner, accounts.credit('eip155:8453', buyer.address.toLowerCase() as Address))

const priceOfEcho = 1_000n
const toppedUp = 5_000_000n

export const siteHost = 'cited.test'

export const requestPaths: readonly RequestPath[] = [
  {
    name: 'exact sale',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: async () => ({ path: '/test/small', init: {} }),
    effects: served('test.small'),
  },
  {
    name: 'MPP sale',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: async () => ({
      path: '/test/small',
      init: {},
      pay: async (buyer, url) => ({
        headers: { authorization: await signCredential(buyer, url) },
        micro: BigInt((await quote(url)).accepts[0]?.amount ?? 0),
      }),
    }),
    effects: served('test.small'),
  },
  {
    name: 'upto sale',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: (till, buyer) => metered(till, buyer, '?text=ten+letters', 1_100n),
    effects: served('sandbox.meter'),
  },
  {
    name: 'upto sale of nothing',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: (till, buyer) => metered(till, buyer, '', 0n),
    effects: served('sandbox.meter'),
  },
  {
    name: 'first call of a channel',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: async () => ({ path: '/test/small', init: {}, pay: depositAndVoucher }),
    effects: countRows(`select count(*) as n from channel_sale where payer = $1`),
  },
  {
    name: 'call of a channel',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: async (till, buyer) => {
      const first = await channelBuyer(till.base, buyer).fetch(`${till.node.url}/test/small`)
      if (first.status !== 200) throw new Error(`the first call: ${first.status}`)
      return { path: '/test/small', init: {}, pay: nextVoucher(till) }
    },
    // Beside the first.
    effects: countRows(`select count(*) - 1 as n from channel_sale where payer = $1`),
  },
  {
    name: 'sale held until final',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: async () => ({ path: '/test/large', init: {} }),
    effects: served('test.large'),
  },
  {
    name: 'subscription',
    variant: 'shops',
    fundedMicro: 600_000_000n,
    wanted: async () => ({ path: '/matrix/subscribe/standard', init: {} }),
    effects: countRows(`select count(*) as n from subscription_purchase where wallet = $1`),
  },
  {
    name: 'stream purchase',
    variant: 'shops',
    fundedMicro: 11_000_000_000n,
    wanted: async () => ({ path: '/v1/market/intent-stream', init: { headers: { accept: 'application/json' } } }),
    effects: served(streamRouteId),
  },
  {
    name: 'credit top-up',
    variant: 'shops',
    fundedMicro: 20_000_000n,
    wanted: async () => ({ path: '/v1/credit/topup', init: postJson({ usd: '5' }) }),
    effects: async (till, buyer) => Number((await creditMicro(till, buyer)) / toppedUp),
  },
  {
    name: 'credit draw',
    variant: 'shops',
    fundedMicro: 20_000_000n,
    draws: true,
    wanted: async (till, buyer) => {
      const response = await buy(buyer, `${till.node.url}/v1/credit/topup`, {}, postJson({ usd: '5' }))
      if (response.status !== 200) throw new Error(`top-up: ${response.status}`)
      return { path: '/v1/sandbox/echo?message=drawn', init: { headers: { 'idempotency-key': 'kill-points-draw' } } }
    },
    effects: async (till, buyer) => Number((toppedUp - (await creditMicro(till, buyer))) / priceOfEcho),
  },
  {
    name: 'attest',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: async (_till, buyer) => ({
      path: '/v1/cite/attest',
      init: postJson({ source_url: `http://${siteHost}/page`, agent_wallet: buyer.address }),
    }),
    effects: countRows(
      `select count(*) as n from attestation a join payment p on p.id = a.payment_id where p.payer = $1`,
    ),
  },
  {
    name: 'royalty',
    variant: 'shops',
    fundedMicro: 10_000_000n,
    wanted: async (till, buyer) => {
      const { id } = await firstPayment(till, buyer)
      return { path: '/v1/royalties/remit', init: postJson({ parent: id, sale_price_micro: '40000000' }) }
    },
    effects: countRows(
      `select count(*) as n from royalty_remittance r join payment p on p.id = r.payment_id where p.payer = $1`,
    ),
  },
  {
    name: 'option write',
    variant: 'exchange',
    fundedMicro: 9_000_000_000n,
    wanted: async (till) => {
      const series = await openSeries(till)
      return { path: '/v1/options/write', init: postJson({ symbol: series, premium_usd: '120' }) }
    },
    effects: countRows(`select count(*) as n from option_order where writer = $1 and state <> 'revoked'`),
  },
  {
    name: 'option buy',
    variant: 'exchange',
    fundedMicro: 500_000_000n,
    wanted: async (till) => {
      const symbol = await openSeries(till)
      // The vault's price moves on; a quote holds it while the node dies and comes back.
      const quoted = await fetch(`${till.node.url}/v1/options/quote`, postJson({ symbol }))
      const { quote_id } = (await quoted.json()) as { quote_id: string }
      return { path: '/v1/options/buy', init: postJson({ symbol, quote_id }) }
    },
    effects: countRows(`select count(*) as n from option_position where holder = $1 and state = 'open'`),
  },
]

async function depositAndVoucher(payer: PrivateKeyAccount, url: string) {
  const payload = await depositPayload(payer, await quote(url), { amount: 30_000n, validSeconds })
  return { headers: { 'payment-signature': encodePayload(payload) }, micro: 30_000n }
}

/** From the base that a correction would name. Nothing moves on chain for it. */
const nextVoucher = (till: TillFixture) => async (payer: PrivateKeyAccount, url: string) => {
  const { rows } = await till.db.owner.query<{ charged: bigint }>(
    `select charged_micro as charged from channel where payer = $1`,
    [payer.address.toLowerCase()],
  )
  const max = (rows[0]?.charged ?? 0n) + 1_500n
  const payload = await voucherPayload(payer, await quote(url), { max })
  return { headers: { 'payment-signature': encodePayload(payload) }, micro: 0n }
}

/** The payer lets Permit2 take its money once, and pays each time what was counted. */
async function metered(till: TillFixture, buyer: PrivateKeyAccount, query: string, micro: bigint): Promise<Wanted> {
  await till.base.control.fund(buyer.address.toLowerCase() as Address, { microUsdc: 0n })
  await sendTransaction(till.base, buyer, { to: till.base.usdc, data: approvePermit2(10_000_000n) })
  return {
    path: `/v1/sandbox/meter${query}`,
    init: {},
    pay: async (payer, url) => {
      const deadline = BigInt(Math.floor(Date.now() / 1000) + validSeconds)
      const payload = await signPermit(payer, await quote(url), { deadline })
      return { headers: { 'payment-signature': encodePayload(payload) }, micro }
    },
  }
}

export async function openSeries(till: TillFixture): Promise<string> {
  return until('a series is listed', async () => {
    const answer = await fetch(`${till.node.url}/v1/options/series?buyable=true`)
    const { data } = (await answer.json()) as { data: { symbol: string; last_trade_at: string }[] }
    return data.find(({ last_trade_at }) => Date.parse(last_trade_at) > Date.now() + 300_000)?.symbol
  })
}

/** Something of the buyer's own to go back to. */
async function firstPayment(till: TillFixture, buyer: PrivateKeyAccount): Promise<{ id: string }> {
  const response = await buy(buyer, `${till.node.url}/test/small`)
  if (response.status !== 200) throw new Error(`the first purchase: ${response.status}`)
  const { rows } = await till.db.owner.query<{ id: string }>(`select id from payment where payer = $1`, [
    buyer.address.toLowerCase(),
  ])
  return rows[0] as { id: string }
}

/** Draws until it is answered: each try is signed again, and all carry the same name. */
export async function drawThroughDeath(
  buyer: PrivateKeyAccount,
  wanted: Wanted,
  origins: { first: string; after(): Promise<string> },
): Promise<(number | 'broken')[]> {
  const statuses: (number | 'broken')[] = []
  let origin = origins.first
  for (const giveUpAt = Date.now() + 120_000; statuses.at(-1) !== 200; ) {
    if (Date.now() > giveUpAt)
      throw new Error(`no answer after ${statuses.length} tries: … ${statuses.slice(-8).join(', ')}`)
    const signed = await signRequest(`${origin}${wanted.path}`, wanted.init, {
      account: buyer,
      cover: ['idempotency-key'],
    })
    const headers = Object.fromEntries(signed.headers)
    const status = await fetch(`${origin}${wanted.path}`, { headers }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status
      },
      () => 'broken' as const,
    )
    statuses.push(status)
    if (status === 'broken') origin = await origins.after()
    if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return statuses
}
