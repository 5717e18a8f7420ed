import { describe, expect, test } from 'vitest'
import { nowSeconds, systemClock, toRfc3339 } from './clock.ts'
import { base32, createIds, publicIdPattern } from './ids.ts'
import { silentLog } from './log.ts'
import { silentMetrics } from './metrics.ts'
import { asProblem, Problem, problemBody, setHints } from './problem.ts'
import { problemTable } from './problem-table.ts'
import { systemRng } from './random.ts'

describe('clock', () => {
  test('seconds are whole ones, and texts are RFC 3339', () => {
    expect(nowSeconds({ ...systemClock, nowMs: () => 1_999 })).toBe(1)
    expect(toRfc3339(1_700_000_000_123)).toBe('2023-11-14T22:13:20.123Z')
  })

  test('the system clock tells the time, and durations do not run backwards', () => {
    const [before, mark] = [Date.now(), systemClock.monotonicMs()]
    expect(systemClock.nowMs()).toBeGreaterThanOrEqual(before)
    expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(mark)
  })

  test('a sleep ends by itself, leaving nothing at the signal', async () => {
    const { signal } = new AbortController()
    const [added, removed]: [string[], string[]] = [[], []]
    const watched = Object.assign(Object.create(signal), {
      addEventListener: (name: string, _: unknown, options: unknown) =>
        added.push(`${name} ${JSON.stringify(options)}`),
      removeEventListener: (name: string) => removed.push(name),
    })
    Object.defineProperty(watched, 'aborted', { value: false })
    await systemClock.sleep(1, watched)
    expect([added, removed]).toEqual([['abort {"once":true}'], ['abort']])
    await expect(systemClock.sleep(1)).resolves.toBeUndefined()
  })

  test('a sleep is ended by its signal, before it and in it', async () => {
    const abort = new AbortController()
    const asleep = systemClock.sleep(600_000, abort.signal)
    abort.abort(new Error('enough'))
    await expect(asleep).rejects.toThrow('enough')
    await expect(systemClock.sleep(600_000, abort.signal)).rejects.toThrow('enough')
  })
})

describe('ids', () => {
  test('base32 is that of Crockford', () => {
    expect(base32(Buffer.of())).toBe('')
    expect(base32(Buffer.of(0xff))).toBe('zw')
    expect(base32(Buffer.of(1, 2, 3, 4, 5))).toBe('04106105')
    expect(base32(Buffer.from('00443214c74254b635cf84653a56d7c675be77df', 'hex'))).toBe(
      '0123456789abcdefghjkmnpqrstvwxyz',
    )
  })

  test('an id holds the time, then chance, and sorts by time', () => {
    const ids = (ms: number, fill: number) =>
      createIds({ ...systemClock, nowMs: () => ms }, { bytes: (length) => new Uint8Array(length).fill(fill) }).next(
        'pay',
      )
    const first = ids(1_700_000_000_000, 255)
    expect(first).toBe(`pay_${base32(Buffer.from(`018bcfe56800${'ff'.repeat(10)}`, 'hex'))}`)
    expect(first < ids(1_700_000_000_001, 0)).toBe(true)
    expect(first).toMatch(publicIdPattern)
  })

  test('what is no id is not taken for one', () => {
    const good = `pay_${'0'.repeat(26)}`
    expect(publicIdPattern.test(good)).toBe(true)
    for (const bad of [`x ${good}`, `${good}0`, good.slice(0, -1), good.replace('0', 'u'), `p_${'0'.repeat(26)}`])
      expect(publicIdPattern.test(bad), bad).toBe(false)
    expect(publicIdPattern.test(`ninechars_${'0'.repeat(26)}`)).toBe(false)
  })
})

describe('chance', () => {
  test('gives as much as asked for, never the same twice, and never nothing', () => {
    const seen = new Set<string>()
    for (const length of [1, 10, 32, 63, 64, 65, 200])
      for (let turn = 0; turn < 150; turn += 1) {
        const bytes = systemRng.bytes(length)
        expect(bytes.length).toBe(length)
        if (length < 10) continue
        const text = Buffer.from(bytes).toString('hex')
        expect(seen.has(text)).toBe(false)
        expect(/^(00)+$/.test(text)).toBe(false)
        expect(text.endsWith('0000000000')).toBe(false)
        seen.add(text)
      }
  })

  test('what was given once is not shared with what is given next', () => {
    const first = systemRng.bytes(32)
    const copy = Buffer.from(first)
    for (let turn = 0; turn < 300; turn += 1) systemRng.bytes(32)
    expect(copy.equals(first)).toBe(true)
  })
})

describe('problems', () => {
  test('of the till name no route: their hints come from the owners of the routes', () => {
    for (const [code, { hint }] of Object.entries(problemTable)) expect(hint, code).not.toMatch(/\b(GET|POST)\b|\/v\d/)
    const { hint } = problemTable.bad_request
    try {
      setHints({ bad_request: 'GET /toys lists them.' })
      expect(new Problem('bad_request').kind.hint).toBe('GET /toys lists them.')
    } finally {
      setHints({ bad_request: hint })
    }
    expect(() => setHints({ toy_unknown: 'x' } as Record<string, string>)).toThrow(/toy_unknown is not defined/)
  })

  test('speak by their table, unless they know better', () => {
    const plain = new Problem('payment_required')
    expect([plain.name, plain.message, plain.status]).toEqual(['Problem', 'Payment required', 402])
    const row = problemTable.payment_required
    const base = {
      type: 'https://docs.example/errors/payment_required',
      title: row.title,
      status: 402,
      code: 'payment_required',
      retryable: true,
    }
    expect(problemBody(plain, 'https://docs.example')).toStrictEqual({ ...base, hint: row.hint })
    const problem = new Problem('payment_required', { detail: 'pay two', hint: 'sign', extra: { price: '2' } })
    expect(problem.message).toBe('pay two')
    expect(problemBody(problem, 'https://docs.example', 'req_1')).toStrictEqual({
      ...base,
      detail: 'pay two',
      hint: 'sign',
      request_id: 'req_1',
      price: '2',
    })
  })

  test('anything else that is thrown is an internal error', () => {
    const own = new Problem('not_found')
    expect(asProblem(own)).toBe(own)
    expect(asProblem(new Error('secret'))).toMatchObject({ code: 'internal', status: 500, message: 'Internal error' })
  })
})

test('silent ports say nothing and fail nothing', () => {
  for (const say of [silentLog.info, silentLog.warn, silentLog.error]) expect(say({}, 'x')).toBeUndefined()
  expect(silentMetrics.count('x')).toBeUndefined()
  expect(silentMetrics.gauge('x', 1)).toBeUndefined()
  expect(silentMetrics.observeMs('x', 1)).toBeUndefined()
})
