import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCursor } from '../../../../node/src/shops/account/mandate-routes.ts'
import { Problem } from '../../kernel/problem.ts'
import { matchesRoute } from '../credit-mandate.ts'
import { type Mandate, mandateId } from './mandate-statement.ts'
import { mandateBody, parseMandate } from './parse-mandate.ts'

const nowMs = Date.UTC(2026, 10, 15)
const body = {
  owner: `0x${'11'.repeat(20)}`,
  delegate: `0x${'22'.repeat(20)}`,
  routes: ['sandbox.echo.*'],
  cap_per_call_micro: '1000',
  cap_per_day_micro: '2000',
  cap_total_micro: '3000',
  expires_at: '2026-12-01T00:00:00Z',
  nonce: `0x${'0a'.repeat(32)}`,
  signature: '0x00',
}
const parse = (changes: Record<string, unknown> = {}) =>
  parseMandate(mandateBody.parse({ ...body, ...changes }), 'https://node.example', nowMs)
const codeOf = (changes: Record<string, unknown>) => {
  try {
    parse(changes)
    return 'accepted'
  } catch (error) {
    return error instanceof Problem ? error.code : 'shape'
  }
}

test('what is parsed is what was written', () => {
  expect(parse()).toEqual({
    owner: body.owner,
    delegate: body.delegate,
    node: 'https://node.example',
    routes: body.routes,
    capPerCallMicro: 1_000n,
    capPerDayMicro: 2_000n,
    capTotalMicro: 3_000n,
    expiresAt: Date.UTC(2026, 11, 1) / 1_000,
    nonce: body.nonce,
  })
})

test('mandates that mean nothing, too much or something else are refused', () => {
  const wrong: Record<string, unknown>[] = [
    { delegate: body.owner },
    { cap_per_day_micro: '999' },
    { cap_total_micro: '1999' },
    { cap_total_micro: '9999999999999999999' },
    { expires_at: '2026-12-01T00:00:00.500Z' },
    { expires_at: '2028-12-01T00:00:00Z' },
    { routes: ['/v1/x?y=1'] },
    { routes: ['/v1/**/x'] },
    { routes: ['sandbox.**'] },
    { routes: ['Sandbox.Echo'] },
    { routes: [`/${'*a'.repeat(9)}`] },
  ]
  for (const changes of wrong) expect(codeOf(changes), JSON.stringify(changes)).toBe('mandate_invalid')
  for (const changes of [{ cap_per_call_micro: '0' }, { cap_per_call_micro: '-1' }, { routes: [] }, { nonce: '0x00' }])
    expect(codeOf(changes), JSON.stringify(changes)).toBe('shape')
  expect(codeOf({ expires_at: '2026-11-14T00:00:00Z' })).toBe('mandate_expired')
})

test('any change of what is signed changes the id, and nothing else does', () => {
  const mandate = parse()
  const id = mandateId(mandate, 8453)
  expect(id).toMatch(/^mdt_[0-9a-f]{40}$/)
  expect(mandateId({ ...mandate, routes: [...mandate.routes] }, 8453)).toBe(id)
  const changes: Partial<Mandate>[] = [
    { node: 'https://other.example' },
    { routes: ['*'] },
    { capTotalMicro: 3_001n },
    { expiresAt: mandate.expiresAt + 1 },
    { nonce: `0x${'0b'.repeat(32)}` },
    { delegate: `0x${'33'.repeat(20)}` },
  ]
  const others = changes.map((change) => mandateId({ ...mandate, ...change }, 8453))
  expect(new Set([id, mandateId(mandate, 137), ...others]).size).toBe(changes.length + 2)
})

test('patterns match ids and paths, and never across segments', () => {
  const path = '/matrix/gme/live'
  for (const pattern of ['matrix.live', 'matrix.*', '*', '*.live', '/matrix/gme/live', '/matrix/*/live', '/matrix/**'])
    expect(matchesRoute(pattern, 'matrix.live', path), pattern).toBe(true)
  for (const pattern of [
    'matrix',
    'matrix.live.*',
    '/matrix/*',
    '/matrix/gme/live/**',
    '/matrix',
    '/*/live',
    '/matrix/gme/li',
  ])
    expect(matchesRoute(pattern, 'matrix.live', path), pattern).toBe(false)
})

test('a pattern without stars matches itself alone, and the same with stars agrees with a plain search', () => {
  const word = fc.stringMatching(/^[ab.]{0,8}$/)
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.stringMatching(/^[ab.]{0,24}$/), (parts, text) => {
      const pattern = parts.join('*')
      const wanted = new RegExp(`^${parts.map((part) => part.replaceAll('.', '\\.')).join('.*')}$`)
      expect(matchesRoute(pattern, text, '/')).toBe(wanted.test(text))
    }),
  )
})

test('no pattern takes for ever', () => {
  expect(matchesRoute(`${'a*'.repeat(99)}b`, 'a'.repeat(5_000), '/')).toBe(false)
})

test('any cursor is read or refused, and never anything else', () => {
  fc.assert(
    fc.property(fc.string(), (cursor) => {
      try {
        parseCursor(cursor)
      } catch (error) {
        expect(error).toBeInstanceOf(Problem)
      }
    }),
  )
})
