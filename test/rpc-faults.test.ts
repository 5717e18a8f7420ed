import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { RpcFault } from '../packages/till/src/chain/rpc-proxy.fixture.ts'
import { buy, echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till', providers: true })
let buyer: Awaited<ReturnType<typeof till.newBuyer>>
beforeAll(async () => {
  buyer = await till.newBuyer()
})
afterEach(() => {
  for (const provider of till.providers) provider.setFault({ kind: 'none' })
})

const faults: RpcFault[] = [
  { kind: 'hangs' },
  { kind: 'slow', ms: 2_000 },
  { kind: 'lies' },
  { kind: 'rate_limited' },
  { kind: 'wrong_chain' },
  { kind: 'down' },
]

describe.each(faults)('while one provider of three $kind', (fault) => {
  test.each([0, 1, 2])('number %i: purchases go on', async (which) => {
    till.providers[which]?.setFault(fault)
    for (let purchase = 0; purchase < 3; purchase += 1) {
      const response = await buy(buyer, `${till.node.url}${echoPath}?message=${fault.kind}-${which}-${purchase}`)
      expect(response.status).toBe(200)
    }
  })
})

test.each(faults)('a node starts while one provider of three $kind', async (fault) => {
  till.providers[0]?.setFault(fault)
  const another = await till.startAnother({ jobs: false })
  expect((await fetch(`${another.url}/readyz`)).status).toBe(200)
  await another.stop()
})
