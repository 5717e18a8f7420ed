import { expect, test } from 'vitest'
import { expectSoundBooks, paymentRows, spentOnChain } from './harness/invariants.ts'
import { createTestShop } from './harness/test-shop.ts'
import { openTill, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

test('a node that is stopped finishes the purchases it has begun', async () => {
  const shop = createTestShop()
  let settling: () => void = () => {}
  const begun = new Promise<void>((resolve) => {
    settling = resolve
  })
  const till = await openTill({
    ownShops: 'till',
    shops: [shop.open],
    intercept: {
      facilitator: (facilitator) => ({
        ...facilitator,
        settle: async (payment, signal) => {
          settling()
          await until('the node accepts no further connection', () =>
            fetch(till.node.url).then(
              () => false,
              () => true,
            ),
          )
          return facilitator.settle(payment, signal)
        },
      }),
    },
  })
  try {
    const buyer = await till.newBuyer()
    const url = `${till.node.url}/test/small`
    const payload = await signPayment(buyer, await quote(url))
    const answer = send(url, payload)
    await begun
    const stopped = till.node.stop()
    expect((await answer).status).toBe(200)
    await stopped
    expect((await paymentRows(till)).map((row) => row.state)).toEqual(['served'])
    expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
    await expectSoundBooks(till)
  } finally {
    await till.close()
  }
})
