import { beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../packages/till/src/store/database.ts'
import { CommitUnknown } from '../packages/till/src/store/errors.ts'
import { spentOnChain, statesOf } from './harness/invariants.ts'
import { createTestShop } from './harness/test-shop.ts'
import { quote, send, signPayment } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

/** Answers that are lost after their statement took effect, and writes of ends that come late. */
const shop = createTestShop()
/** Statements whose answers are lost, the next one first. */
let lost: RegExp[] = []
/** Settlements wait for it. */
let held: Promise<void> | undefined
let releaseWritten = () => {}
let notSent = false

const isOf = (pattern: RegExp | undefined, statement: string | { name?: string; text: string }) =>
  pattern?.test(typeof statement === 'string' ? statement : (statement.name ?? statement.text)) === true

const losingAnswers = (real: Database): Database => ({
  ...real,
  query: async (statement, values) => {
    const isLost = isOf(lost[0], statement)
    if (isLost) lost.shift()
    const result = await real.query(statement, values)
    if (!isLost && isOf(release, statement)) releaseWritten()
    if (isLost) throw new CommitUnknown(new Error('the connection broke'))
    return result as never
  },
})

const till = useTill({
  ownShops: 'till',
  shops: [shop.open],
  intercept: {
    database: losingAnswers,
    facilitator: (real) => ({
      ...real,
      settle: async (payment, signal) => {
        if (notSent) {
          notSent = false
          return { status: 'refused', reason: 'facilitator_unreachable', payloadSent: false }
        }
        await held
        return real.settle(payment, signal)
      },
    }),
  },
})
beforeEach(() => {
  lost = []
  held = undefined
  notSent = false
})

const intent = /^payment-intent$/
const claim = /^payment-claim$/
const release = /update payment set state = \$2/

/** Holds settlements until a release whose answer was lost is written again. */
function holdUntilRelease(): void {
  held = new Promise((resolve) => {
    releaseWritten = resolve
  })
}

async function signed() {
  const buyer = await till.newBuyer()
  const url = `${till.node.url}/test/small`
  return { buyer, url, payload: await signPayment(buyer, await quote(url)) }
}

test('a release that is written late does not undo the next attempt of the same authorization', async () => {
  const { buyer, url, payload } = await signed()
  lost = [intent, release]
  expect((await send(url, payload)).status).toBe(503)
  holdUntilRelease()
  const again = await send(url, payload)
  expect(again.status).toBe(200)
  expect(await statesOf(till, buyer.address)).toEqual(['served'])
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
})

test('a payment that could not be sent is tried again at once though its release lost its answer', async () => {
  const { buyer, url, payload } = await signed()
  notSent = true
  lost = [release]
  expect((await send(url, payload)).status).toBe(503)
  holdUntilRelease()
  expect((await send(url, payload)).status).toBe(200)
  expect(await statesOf(till, buyer.address)).toEqual(['served'])
})

test.each([
  ['a claim', [claim]],
  ['an intent', [intent]],
])('%s whose answer is lost does not keep the buyer waiting for its lease', async (_what, answers) => {
  const { buyer, url, payload } = await signed()
  lost = [...answers]
  expect((await send(url, payload)).status).toBe(503)
  await vi.waitFor(async () => expect(await statesOf(till, buyer.address)).toEqual(['released']), 30_000)
  expect((await send(url, payload)).status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_500n)
})
