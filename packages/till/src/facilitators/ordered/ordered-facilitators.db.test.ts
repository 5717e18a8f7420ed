import { afterAll, beforeEach, expect, test } from 'vitest'
import { knownNetworks, type Network } from '../../chain/index.ts'
import { testPayer } from '../../chain/wallet/wallet.fixture.ts'
import type { Facilitator } from '../../contract/facilitator.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { silentMetrics } from '../../kernel/metrics.ts'
import { useTestDatabase } from '../../store/use-database.fixture.ts'
import { type ContractServer, json, silence, startContractServer } from '../http/contract-server.fixture.ts'
import { createHttpFacilitator } from '../http/http-facilitator.ts'
import { paymentOf } from '../local/local.fixture.ts'
import { createOrderedFacilitators } from './ordered-facilitators.ts'
import { createPaymentHolders, deleteHolders } from './payment-holders.ts'

const network = knownNetworks[0] as Network
const hash = `0x${'ab'.repeat(32)}`
const settled = json(200, { success: true, transaction: hash, network: network.caip2, payer: '0x' })
const alive = () => new AbortController().signal
let payers = 0
const newPayment = () => paymentOf(network, testPayer(`ordered ${payers++}`))

let nowMs = 0
const db = await useTestDatabase({ poolSize: 4 })
const servers: ContractServer[] = [await startContractServer(), await startContractServer()]
afterAll(() => Promise.all(servers.map((server) => server.stop())))
beforeEach(() => {
  for (const server of servers) {
    server.calls.length = 0
    server.play(settled)
  }
})

const clock = { ...systemClock, monotonicMs: () => nowMs }
const remote = (name: string, baseUrl: string): Facilitator =>
  createHttpFacilitator({
    name,
    baseUrl,
    log: silentLog,
    metrics: silentMetrics,
    settleTimeoutMs: 300,
    timeoutMs: 5_000,
  })
const first = () => remote('first', servers[0]?.baseUrl ?? '')
const second = () => remote('second', servers[1]?.baseUrl ?? '')
/** Nobody listens there. */
const gone = (name: string) => remote(name, 'http://127.0.0.1:1')
const list = (...members: Facilitator[]) =>
  createOrderedFacilitators(members, {
    clock,
    log: silentLog,
    metrics: silentMetrics,
    holders: createPaymentHolders(db.database),
  })
const handedTo = () => servers.map(({ calls }) => calls.filter(({ path }) => path.endsWith('/settle')).length)

test('the first that is well gets a payment, and the next one what the first was never handed', async () => {
  expect(await list(first(), second()).settle(newPayment(), alive())).toMatchObject({ status: 'submitted' })
  expect(handedTo()).toEqual([1, 0])
  expect(await list(gone('first'), second()).settle(newPayment(), alive())).toMatchObject({ status: 'submitted' })
  expect(handedTo()).toEqual([1, 1])
})

test('the health of each is measured from the start, so that an alert has something to look at', () => {
  const seen: unknown[] = []
  const metrics = { ...silentMetrics, gauge: (...args: unknown[]) => void seen.push(args) }
  const deps = { clock, log: silentLog, metrics, holders: createPaymentHolders(db.database) }
  createOrderedFacilitators([first(), second()], deps)
  expect(seen).toEqual(['first', 'second'].map((facilitator) => ['facilitator_healthy', 1, { facilitator }]))
})

test('one that is not reached gets nothing new until it answers', async () => {
  const dead = gone('first')
  let [settles, supported] = [0, 0]
  const counted: Facilitator = {
    ...dead,
    settle: (...args) => {
      settles += 1
      return dead.settle(...args)
    },
    supported: async () => {
      supported += 1
      return { kinds: [], signers: {} }
    },
  }
  const ordered = list(counted, second())
  await ordered.settle(newPayment(), alive())
  await ordered.settle(newPayment(), alive())
  expect([settles, supported]).toEqual([1, 0])
  nowMs += 120_000
  // Asked beside this one, and back in its place for the next.
  await ordered.settle(newPayment(), alive())
  await ordered.settle(newPayment(), alive())
  expect([settles, supported]).toEqual([2, 1])
})

test.each([
  ['answers 503', json(503, { errorType: 'service_unavailable' })],
  ['does not answer', silence],
])(
  'one that was silent for a while and %s is handed nothing: the first buyer is served by the next',
  async (_, play) => {
    const ordered = list(first(), second())
    nowMs += 11_000
    servers[0]?.play(play)
    expect(await ordered.settle(newPayment(), alive())).toMatchObject({ status: 'submitted' })
    expect(handedTo()).toEqual([0, 1])
    // The last one is handed it without being asked: nobody else could carry it.
    nowMs += 11_000
    expect(await list(second()).settle(newPayment(), alive())).toMatchObject({ status: 'submitted' })
    expect(servers[1]?.calls.filter(({ path }) => path.endsWith('/supported'))).toEqual([])
  },
)

test('one that answered recently is not asked again', async () => {
  const ordered = list(first(), second())
  await ordered.settle(newPayment(), alive())
  nowMs += 5_000
  await ordered.settle(newPayment(), alive())
  expect(servers[0]?.calls.map(({ path }) => path.split('/').at(-1))).toEqual(['settle', 'settle'])
})

test.each([
  ['does not answer', silence],
  ['answers 500', json(500, {})],
  ['refuses it', json(200, { success: false, errorReason: 'insufficient_funds', transaction: '' })],
])('a payment that the first holds is never given to another, also after a restart: it %s', async (_, play) => {
  servers[0]?.play(play)
  const payment = newPayment()
  const outcome = await list(first(), second()).settle(payment, alive())
  expect(outcome.status).not.toBe('submitted')
  // Another order, as an operator would set it during an outage; the first is gone by now.
  expect(await list(second(), gone('first')).settle(payment, alive())).toMatchObject({
    status: 'refused',
    payloadSent: true,
  })
  // Not even when it is no longer configured.
  expect(await list(second()).settle(payment, alive())).toMatchObject({
    status: 'refused',
    reason: 'facilitator_holds_payment',
    payloadSent: true,
  })
  expect(handedTo()).toEqual([1, 0])
  servers[0]?.play(settled)
  expect(await list(second(), first()).settle(payment, alive())).toMatchObject({ status: 'submitted' })
  expect(handedTo()).toEqual([2, 0])
})

test('with nobody well nothing is handed out, and the payment stays free', async () => {
  const payment = newPayment()
  const outcome = await list(gone('first'), gone('second')).settle(payment, alive())
  expect(outcome).toMatchObject({ status: 'refused', reason: 'facilitator_unavailable', payloadSent: false })
  expect(await list(second()).settle(payment, alive())).toMatchObject({ status: 'submitted' })
})

test('a payload that is signed for one facilitator is carried by no other', async () => {
  const payment = { ...newPayment(), scheme: 'upto' }
  expect(await list(gone('first'), second()).settle(payment, alive())).toMatchObject({ payloadSent: false })
  expect(handedTo()).toEqual([0, 0])
})

test('a payment of any scheme goes to those that say they carry it', async () => {
  const kinds = [{ x402Version: 2, scheme: 'toy', network: network.caip2 }]
  servers[1]?.play(json(200, { kinds, signers: {} }))
  const ordered = list(first(), second())
  await ordered.refresh?.(alive())
  servers[1]?.play(settled)
  const payment = { ...newPayment(), scheme: 'toy' }
  expect(ordered.carries(payment)).toBe(true)
  expect(await ordered.settle(payment, alive())).toMatchObject({ status: 'submitted' })
  expect(handedTo()).toEqual([0, 1])
  expect(ordered.carries({ ...payment, network: 'eip155:1' })).toBe(false)
})

test('a contradiction is the fault of the one that settled', async () => {
  const contradicted: string[] = []
  const watched = (facilitator: Facilitator): Facilitator => ({
    ...facilitator,
    contradicted: () => contradicted.push(facilitator.name),
  })
  const ordered = list(watched(gone('first')), watched(second()))
  const payment = newPayment()
  await ordered.settle(payment, alive())
  ordered.contradicted?.(payment.paymentId)
  expect(contradicted).toEqual(['second'])
})

test('who held what is deleted after a day', async () => {
  const holders = createPaymentHolders(db.database)
  expect(await holders.any()).toBe(true)
  await deleteHolders(db.database, systemClock.nowMs() + 25 * 3_600_000)
  expect(await holders.any()).toBe(false)
})
