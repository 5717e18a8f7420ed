import { afterEach, expect, test } from 'vitest'
import { RpcRefusal } from '../packages/till/src/chain/index.ts'
import { CommitUnknown, StoreUnavailable } from '../packages/till/src/store/errors.ts'
import { spentOnChain } from './harness/invariants.ts'
import { createTestShop } from './harness/test-shop.ts'
import { buy, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const shop = createTestShop()
let refuses: (method: string, endpoint: string) => boolean = () => false
const overLimit = new RpcRefusal(-32_005, 'daily request count exceeded, request rate limited')
let refusal: Error = overLimit
let databaseAway: Error | undefined

const till = useTill({
  ownShops: 'till',
  shops: [shop.open],
  intercept: {
    rpc: (endpoint) => ({
      ...endpoint,
      send: async (calls) => {
        if (calls.some((call) => refuses(call.method, endpoint.name))) throw refusal
        return endpoint.send(calls)
      },
    }),
    database: (database) => ({
      ...database,
      query: (...args) => (databaseAway ? Promise.reject(databaseAway) : database.query(...args)),
      transaction: (work) => (databaseAway ? Promise.reject(databaseAway) : database.transaction(work)),
    }),
  },
})
afterEach(() => {
  refuses = () => false
  refusal = overLimit
  databaseAway = undefined
})

const at = (path: string) => `${till.node.url}${path}`

const silences = {
  'refuses to answer': overLimit,
  'does not answer in time': new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
  'cannot be reached': new TypeError('fetch failed'),
}

test.each(Object.entries(silences))(
  'a provider that %s makes a payment wait with 503, never fail with 500',
  async (_, error) => {
    refusal = error
    const buyer = await till.newBuyer()
    const payload = await signPayment(buyer, await quote(at('/test/small')))
    refuses = (method) => method === 'eth_call' || method === 'eth_getBlockByNumber'
    const response = await send(at('/test/small'), payload)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).not.toBeNull()
    refuses = () => false
    expect((await send(at('/test/small'), payload)).status).toBe(200)
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
  },
)

/** As the driver passes on what the server refused. */
const refusedWith = (code: string) => Object.assign(new Error('canceled'), { code, severity: 'ERROR' })
const outages = {
  'is away': new StoreUnavailable('away'),
  'breaks off': new CommitUnknown('broken'),
  'has waited too long for a lock': refusedWith('55P03'),
  'has worked too long on a statement': refusedWith('57014'),
  'finds a deadlock': refusedWith('40P01'),
}

test.each(Object.entries(outages))(
  'a database that %s makes a payment wait with 503, never fail with 500',
  async (_, error) => {
    const buyer = await till.newBuyer()
    const payload = await signPayment(buyer, await quote(at('/test/small')))
    databaseAway = error
    expect((await send(at('/test/small'), payload)).status).toBe(503)
    databaseAway = undefined
    await until('sold again', async () => (await send(at('/test/small'), payload)).status === 200)
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
  },
)

test('a chain that cannot be read does not keep the payments of the other from becoming final', async () => {
  const buyer = await till.newBuyer()
  refuses = (method, endpoint) => method === 'eth_getBlockByNumber' && endpoint === 'embedded 8453'
  const url = at('/v1/sandbox/echo')
  expect((await buy(buyer, url, { network: 'eip155:137' })).status).toBe(200)
  const isFinal = async () => {
    const { rows } = await till.db.owner.query<{ final: boolean }>(`select final from payment where payer = $1`, [
      buyer.address.toLowerCase(),
    ])
    return rows[0]?.final === true
  }
  await until('final', isFinal)
})
