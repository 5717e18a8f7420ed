import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningNode } from '../packages/node/src/node.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import { spentOnChain } from './harness/invariants.ts'
import { approvePermit2, permit2Buyer } from './harness/permit2-client.ts'
import { sendTransaction } from './harness/send-transaction.ts'
import { type StockFacilitator, startStockFacilitator } from './harness/stock-facilitator.ts'
import { quote } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till' })
let outside: StockFacilitator
let plain: StockFacilitator
let node: RunningNode
beforeAll(async () => {
  outside = await startStockFacilitator(till.base, ['exact', 'upto'])
  plain = await startStockFacilitator(till.base, ['exact'])
  node = await till.startAnother({ ownShops: 'till', env: { FACILITATOR: outside.url } })
})
afterAll(() => Promise.all([outside?.close(), plain?.close()]))

async function newPayer(): Promise<PrivateKeyAccount> {
  const payer = await till.newBuyer()
  await till.base.control.fund(payer.address.toLowerCase() as Address, { microUsdc: 0n })
  await sendTransaction(till.base, payer, { to: till.base.usdc, data: approvePermit2(10_000_000n) })
  return payer
}
const meter = (at: RunningNode, text: string) => `${at.url}/v1/sandbox/meter?text=${text}`
const schemesAt = async (url: string) => (await quote(url)).accepts.map(({ scheme }) => scheme)

test('upto is offered for the wallet that the facilitator names, and settled by it for what was used', async () => {
  const { accepts } = await quote(meter(node, 'hello'))
  const named = accepts.flatMap(({ extra }) => (extra as { facilitatorAddress?: string }).facilitatorAddress ?? [])
  expect(named.map((address) => address.toLowerCase())).toEqual([outside.wallet])
  const payer = await newPayer()
  const response = await permit2Buyer(payer)(meter(node, 'hello'))
  expect([response.status, await response.json()]).toEqual([200, { characters: 5, charge_micro: '500' }])
  expect(await spentOnChain(till, 'base', payer.address)).toBe(500n)
  expect(outside.settled.at(-1)).toMatchObject({
    paymentPayload: { accepted: { amount: '20000' } },
    paymentRequirements: { scheme: 'upto', amount: '500' },
  })
})

test('exact by Permit2 is settled by it as well', async () => {
  const payer = await newPayer()
  const response = await permit2Buyer(payer)(`${node.url}/v1/credit/topup?usd=1`)
  expect(response.status).toBe(200)
  expect(await spentOnChain(till, 'base', payer.address)).toBe(1_000_000n)
})

test('nothing by Permit2 is offered where the facilitator does not name it', async () => {
  const without = await till.startAnother({ ownShops: 'till', env: { FACILITATOR: plain.url } })
  expect(await schemesAt(meter(without, 'x'))).toEqual(['exact', 'credit'])
  const { accepts } = await quote(`${without.url}/v1/credit/topup?usd=1`)
  expect(accepts.map(({ extra }) => (extra as Record<string, string>)['assetTransferMethod'])).not.toContain('permit2')
})

test('of several facilitators the first that can settle permits does', async () => {
  const both = await till.startAnother({ ownShops: 'till', env: { FACILITATOR: `${plain.url},${outside.url}` } })
  const payer = await newPayer()
  const before = outside.settled.length
  const response = await permit2Buyer(payer)(meter(both, 'four'))
  expect(response.status).toBe(200)
  expect(outside.settled.length).toBe(before + 1)
  expect(await spentOnChain(till, 'base', payer.address)).toBe(400n)
})
