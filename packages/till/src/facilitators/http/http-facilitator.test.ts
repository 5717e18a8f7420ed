import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { knownNetworks, type Network } from '../../chain/index.ts'
import { testPayer } from '../../chain/wallet/wallet.fixture.ts'
import type { Log } from '../../kernel/log.ts'
import { silentMetrics } from '../../kernel/metrics.ts'
import { onLoopback } from '../../kernel/on-loopback.fixture.ts'
import { paymentOf } from '../local/local.fixture.ts'
import {
  breakOff,
  drip,
  flood,
  hangUp,
  json,
  type Play,
  silence,
  startContractServer,
  text,
} from './contract-server.fixture.ts'
import { createHttpFacilitator, type HttpFacilitatorOptions } from './http-facilitator.ts'

const network = knownNetworks[0] as Network
const payment = paymentOf(network, testPayer('remote'))
const hash = `0x${'ab'.repeat(32)}`
const alive = () => new AbortController().signal

let errors: string[]
const server = await startContractServer()
afterAll(() => server?.stop())
beforeEach(() => {
  errors = []
  server.calls.length = 0
})

const log: Log = { info: () => {}, warn: () => {}, error: (_, message) => errors.push(message) }
const remote = (overrides: Partial<HttpFacilitatorOptions> = {}) =>
  createHttpFacilitator({
    baseUrl: server.baseUrl,
    log,
    metrics: silentMetrics,
    settleTimeoutMs: 30_000,
    timeoutMs: 30_000,
    ...overrides,
  })
/** For answers that never come, or never end. */
const shortTimeouts = { settleTimeoutMs: 400, timeoutMs: 400 }
const limitsFor = (reason: unknown) => (reason === 'timeout' ? shortTimeouts : {})

it('gives up a silent facilitator in time, also when memory is collected meanwhile', async () => {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  server.play(silence)
  const verdict = remote(shortTimeouts).verify(payment, alive())
  await expect.poll(() => server.calls.length).toBe(1)
  collect()
  expect(await verdict).toMatchObject({ status: 'could_not_check', reason: 'timeout' })
})

describe('what a facilitator receives', () => {
  it('is our own terms and the bare authorization, nothing else of the client', async () => {
    server.play(
      json(200, { success: true, transaction: hash, network: network.caip2, payer: payment.authorization.from }),
    )
    await remote().settle({ ...payment, extensions: { evil: 1 } } as never, alive())
    const [call] = server.calls
    expect(call).toMatchObject({ method: 'POST', path: '/platform/v2/x402/settle' })
    const body = call?.body as {
      x402Version: number
      paymentPayload: Record<string, unknown>
      paymentRequirements: Record<string, unknown>
    }
    expect(Object.keys(body).sort()).toEqual(['paymentPayload', 'paymentRequirements', 'x402Version'])
    expect(Object.keys(body.paymentPayload).sort()).toEqual(['accepted', 'payload', 'resource', 'x402Version'])
    expect(body.paymentPayload.accepted).toEqual(body.paymentRequirements)
    const { authorization } = body.paymentPayload.payload as { authorization: Record<string, unknown> }
    expect(Object.values(authorization).every((value) => typeof value === 'string')).toBe(true)
    expect(body.paymentRequirements).toMatchObject({
      scheme: 'exact',
      amount: '1000',
      extra: { name: 'USD Coin', version: '2' },
    })
    expect(JSON.stringify(body)).not.toContain('evil')
  })
})

describe('the outcome of settle', () => {
  const submitted: [string, Play][] = [
    ['success with a hash', json(200, { success: true, transaction: hash, network: network.caip2, payer: '0x' })],
  ]
  it.each(submitted)('is submitted after %s', async (_, act) => {
    server.play(act)
    expect(await remote().settle(payment, alive())).toEqual({ status: 'submitted', transaction: hash, feeMicro: 0n })
  })

  const refused: [string, Play, string][] = [
    [
      'insufficient funds',
      json(200, { success: false, errorReason: 'insufficient_funds', transaction: '', network: '' }),
      'insufficient_funds',
    ],
    [
      'the same in the words of the SDK',
      json(200, { success: false, errorReason: 'invalid_exact_evm_insufficient_balance', transaction: '' }),
      'invalid_exact_evm_insufficient_balance',
    ],
    [
      'a used nonce',
      json(400, { success: false, errorReason: 'invalid_exact_evm_nonce_already_used' }),
      'invalid_exact_evm_nonce_already_used',
    ],
    ['a bare invalid_payload', json(400, { errorReason: 'invalid_payload' }), 'invalid_payload'],
    [
      'an invalid request of the API around it',
      json(400, { errorType: 'invalid_request', errorMessage: 'bad', correlationId: 'x' }),
      'invalid_request',
    ],
    ['401', json(401, { errorType: 'unauthorized' }), 'facilitator_unauthorized'],
    ['403', text(403, 'forbidden'), 'facilitator_unauthorized'],
  ]
  it.each(refused)('is refused after %s', async (_, act, reason) => {
    server.play(act)
    expect(await remote().settle(payment, alive())).toMatchObject({ status: 'refused', reason })
  })

  const unknown: [string, Play, Record<string, unknown>][] = [
    [
      'pending as HTTP 500',
      json(500, { success: false, errorReason: 'settlement_pending', transaction: hash }),
      { transaction: hash, reason: 'settlement_pending' },
    ],
    [
      'pending as HTTP 200',
      json(200, { success: false, errorReason: 'settlement_pending', transaction: hash }),
      { transaction: hash },
    ],
    [
      'a failure that names a hash',
      json(200, { success: false, errorReason: 'insufficient_funds', transaction: hash }),
      { transaction: hash },
    ],
    [
      'a failure that names half a hash',
      json(200, { success: false, errorReason: 'insufficient_funds', transaction: '0xabc' }),
      {},
    ],
    ['success without a hash', json(200, { success: true, transaction: '' }), {}],
    ['success with a short hash', json(200, { success: true, transaction: '0x12' }), {}],
    ['success as HTTP 400', json(400, { success: true, transaction: hash }), { transaction: hash }],
    [
      'a reason nobody knows',
      json(200, { success: false, errorReason: 'failed_to_execute_transfer', transaction: '' }),
      { reason: 'failed_to_execute_transfer' },
    ],
    ['an unexpected error', json(200, { success: false, errorReason: 'unexpected_settle_error' }), {}],
    ['a reverted transaction', json(200, { success: false, errorReason: 'invalid_transaction_state' }), {}],
    ['408', json(408, { success: false, errorReason: 'insufficient_funds' }), {}],
    ['429', json(429, { errorType: 'rate_limit_exceeded' }), { reason: 'rate_limit_exceeded' }],
    ['502 with a page', text(502, '<html>bad gateway</html>'), {}],
    ['503 with a refusal', json(503, { success: false, errorReason: 'insufficient_funds' }), {}],
    ['a redirect', json(302, { success: true, transaction: hash }, { location: 'http://127.0.0.1:1/' }), {}],
    ['bad JSON', text(200, '{"success":tru'), {}],
    ['a list', text(200, '[]'), {}],
    ['an endless body', flood, { reason: 'the answer is too large' }],
    ['a drip', drip, { reason: 'timeout' }],
    ['silence', silence, { reason: 'timeout' }],
    ['a connection closed after the request', hangUp, {}],
    ['an answer that breaks off', breakOff, {}],
  ]
  it.each(unknown)('is unknown after %s', async (_, act, fields) => {
    server.play(act)
    const outcome = await remote(limitsFor(fields['reason'])).settle(payment, alive())
    expect(outcome).toMatchObject({ status: 'unknown', ...fields })
    expect(server.calls).toHaveLength(1)
  })

  it('is unknown when the caller gives up, and the late success changes nothing', async () => {
    const caller = new AbortController()
    server.play(async (response, call) => {
      caller.abort()
      await settling
      await json(200, { success: true, transaction: hash })(response, call)
    })
    const settling = remote().settle(payment, caller.signal)
    expect(await settling).toMatchObject({ status: 'unknown', reason: 'aborted' })
  })

  it('is refused when nobody listens there, for nothing was sent', async () => {
    const { url: baseUrl, close } = await onLoopback(createServer())
    await close()
    const outcome = await remote({ baseUrl }).settle(payment, alive())
    expect(outcome).toMatchObject({ status: 'refused', reason: 'facilitator_unreachable' })
  })

  it('is refused when the connection breaks off before it is secured, unknown when it breaks off after', async () => {
    const breaking = await onLoopback(createTcpServer((socket) => socket.once('data', () => socket.destroy())))
    const address = breaking.url.replace('http:', '')
    const secured = await remote({ baseUrl: `https:${address}` }).settle(payment, alive())
    expect(secured).toMatchObject({ status: 'refused', reason: 'facilitator_unreachable', payloadSent: false })
    expect(await remote({ baseUrl: `http:${address}` }).settle(payment, alive())).toMatchObject({ status: 'unknown' })
    await breaking.close()
  })

  it('is refused when the name cannot be looked up', async () => {
    const outcome = await remote({ baseUrl: 'https://no-such-host.invalid' }).settle(payment, alive())
    expect(outcome).toMatchObject({ status: 'refused', reason: 'facilitator_unreachable' })
  })

  it('raises an alarm when the key is not accepted', async () => {
    server.play(json(401, {}))
    await remote().settle(payment, alive())
    expect(errors).toEqual(['the facilitator does not accept our key'])
  })

  it('never carries control characters or endless text of the other side', async () => {
    server.play(
      json(400, { errorReason: 'invalid_payload', errorMessage: `\u001b[31m${'x'.repeat(5_000)}\r\nset-cookie: a` }),
    )
    const outcome = await remote().settle(payment, alive())
    expect(outcome.status === 'refused' && outcome.message).toMatch(/^[\x20-\x7e]{1,200}$/)
  })
})

describe('the outcome of verify', () => {
  const cases: [string, Play, Record<string, unknown>][] = [
    ['a yes', json(200, { isValid: true, payer: '0x' }), { status: 'valid' }],
    [
      'a no',
      json(200, { isValid: false, invalidReason: 'insufficient_funds' }),
      { status: 'invalid', reason: 'insufficient_funds' },
    ],
    [
      'a no as HTTP 400',
      json(400, { isValid: false, invalidReason: 'invalid_payload' }),
      { status: 'invalid', reason: 'invalid_payload' },
    ],
    ['a no without reason', json(200, { isValid: false }), { status: 'could_not_check' }],
    [
      'its own error',
      json(200, { isValid: false, invalidReason: 'unexpected_verify_error' }),
      { status: 'could_not_check' },
    ],
    ['HTTP 500', json(500, { isValid: true }), { status: 'could_not_check' }],
    ['429', json(429, {}), { status: 'could_not_check' }],
    ['401', json(401, {}), { status: 'could_not_check', reason: 'facilitator_unauthorized' }],
    ['silence', silence, { status: 'could_not_check', reason: 'timeout' }],
    ['nonsense', text(200, 'yes'), { status: 'could_not_check' }],
  ]
  it.each(cases)('after %s', async (_, act, outcome) => {
    server.play(act)
    expect(await remote(limitsFor(outcome['reason'])).verify(payment, alive())).toMatchObject(outcome)
  })
})

describe('what a facilitator supports', () => {
  it('is read, and what has not the right shape is left out', async () => {
    const kind = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' }
    server.play(
      json(200, { kinds: [kind, null, { scheme: 7 }], extensions: [], signers: { 'eip155:*': ['0x1', 2], x: 'y' } }),
    )
    expect(await remote().supported(alive())).toEqual({ kinds: [kind], signers: { 'eip155:*': ['0x1'] } })
    expect(server.calls[0]).toMatchObject({ method: 'GET', path: '/platform/v2/x402/supported' })
  })

  it('is an error when it cannot be read', async () => {
    server.play(json(500, {}))
    await expect(remote().supported(alive())).rejects.toThrow('supports')
  })
})

describe('the address of a facilitator', () => {
  it.each(['http://facilitator.example', 'ftp://x', 'facilitator', 'https://u:p@x.example', 'https://x.example/?a=1'])(
    '%s is refused',
    (baseUrl) => {
      expect(() => remote({ baseUrl })).toThrow('facilitator URL')
    },
  )
})
