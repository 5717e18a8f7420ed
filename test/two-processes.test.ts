import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CrashChild } from './harness/control-child.ts'
import { startCrashChild } from './harness/crash-child.ts'
import { expectSoundBooks, paymentRows, spentOnChain } from './harness/invariants.ts'
import { echoPath, encodePayload, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

/** Beside the node of the fixture, in this process. */
let other: CrashChild

const till = useTill({ ownShops: 'till' })
beforeAll(async () => {
  other = await startCrashChild(till)
})
afterAll(() => other.stop())

/** `npm run promises -- --only once` sends 10,000 over four. */
const copies = 300

test('A4: one payment sent hundreds of times at once over two processes is served once, settled once, handled once', async () => {
  const buyer = await till.newBuyer()
  const urls = [other.url, till.node.url].map((node) => `${node}${echoPath}`)
  const [url = ''] = urls
  const offer = await quote(url)
  const payload = encodePayload(await signPayment(buyer, offer))
  const answers = await Promise.all(
    Array.from({ length: copies }, async (_, index) => {
      const response = await send(urls[index % 2] ?? '', payload)
      return { status: response.status, body: await response.text() }
    }),
  )
  const statuses = new Map<number, number>()
  for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const served = statuses.get(200) ?? 0
  expect(served, JSON.stringify([...statuses])).toBeLessThanOrEqual(1)
  // On a busy machine the settlement can outlast the request. Then the answer is given to a new authorization, unused.
  if (served === 0)
    await until('the answer', async () => (await send(url, await signPayment(buyer, offer))).status === 200)
  expect(
    [...statuses.keys()].every((status) => [200, 409, 503].includes(status)),
    JSON.stringify([...statuses]),
  ).toBe(true)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1000n)
  expect((await paymentRows(till)).filter((row) => row.payer === buyer.address.toLowerCase())).toHaveLength(1)
  await expectSoundBooks(till)
})
