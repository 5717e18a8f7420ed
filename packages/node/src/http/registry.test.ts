import { jsonAnswer } from '@assay/till/selling'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fixtureRoutes } from './http-app.fixture.ts'
import { createRegistry, RouteDeclarationError } from './registry.ts'
import type { RouteDeclaration } from './route.ts'

const free = (given: Partial<RouteDeclaration>): RouteDeclaration => ({
  id: 'a.b',
  area: 'core',
  method: 'GET',
  path: '/a',
  summary: 'A',
  output: z.strictObject({ n: z.int() }),
  example: { output: { n: 1 } },
  next: '/',
  access: { kind: 'free', handle: async () => jsonAnswer({ n: 1 }) },
  ...given,
})

const faultsOf = (routes: RouteDeclaration[]): string => {
  try {
    createRegistry(routes)
    return ''
  } catch (error) {
    return error instanceof RouteDeclarationError ? error.faults.join('\n') : String(error)
  }
}

describe('declarations are checked at start', () => {
  test('every fault is named at once', () => {
    const faults = faultsOf([
      free({}),
      free({ path: '/b/', next: '/gone' }),
      free({ id: 'c', example: { output: { n: 'x' } } }),
    ])
    for (const part of [
      'a.b: the id is used twice',
      '/b/ is not exact segments',
      '/gone is no route',
      'GET /a is already',
    ])
      expect(faults).toContain(part)
    expect(faults).toContain('example output does not satisfy')
  })

  test('a start that trusts the examples still finds every other fault', () => {
    const wrong = free({ id: 'c', example: { output: { n: 'x' } } })
    expect(createRegistry([wrong], undefined, true).routes).toHaveLength(1)
    expect(() => createRegistry([wrong, free({ path: '/b/' })], undefined, true)).toThrow('is not exact segments')
  })

  test('parameters of one shape have one set of names', () => {
    const params = (name: string) => z.strictObject({ [name]: z.string() })
    const route = (id: string, method: 'GET' | 'POST', name: string) =>
      free({
        id,
        method,
        path: `/a/:${name}`,
        params: params(name),
        example: { params: { [name]: '1' }, output: { n: 1 } },
      })
    expect(faultsOf([route('x', 'GET', 'one'), route('y', 'POST', 'two')])).toContain(
      'names its parameters differently',
    )
    expect(faultsOf([route('x', 'GET', 'one'), route('y', 'POST', 'one')])).toBe('')
  })

  test('a next hop may only use parameters of its own path', () => {
    expect(faultsOf([free({ next: '/a/:id' })])).toContain('unknown parameter id')
  })

  test('a paid route needs a price above zero and a network, and is never cached', () => {
    const access = {
      kind: 'paid',
      price: { kind: 'fixed', micro: 0n },
      networks: [],
      payee: 'pay_to',
      revocable: false,
      prepare: async () => ({ answer: jsonAnswer({ n: 1 }) }),
    } as const
    const faults = faultsOf([free({ access, cacheSeconds: 5 })])
    expect(faults).toContain('above zero')
    expect(faults).toContain('at least one network')
    expect(faults).toContain('only free GET routes')
  })

  test('a stream is paid for before each period, so its price is never metered', () => {
    const sold = (metered: boolean, representations: string[]) =>
      free({
        representations,
        access: {
          kind: 'paid',
          price: { kind: 'fixed', micro: 1n, ...(metered ? { metered } : {}) },
          ...{ networks: ['eip155:8453'], payee: 'pay_to', revocable: true },
          prepare: async () => ({ answer: jsonAnswer({ n: 1 }) }),
        },
      })
    const streamed = ['application/json', 'text/event-stream']
    expect(faultsOf([sold(true, streamed)])).toContain('before each period')
    expect([faultsOf([sold(false, streamed)]), faultsOf([sold(true, ['application/json'])])]).toEqual(['', ''])
  })

  test('a path parameter needs a schema and an example', () => {
    expect(faultsOf([free({ path: '/a/:id' })])).toContain('needs a params schema')
    expect(faultsOf([free({ path: '/a/:id' })])).toContain('lacks the path parameter id')
  })
})

describe('matching', () => {
  const registry = createRegistry(fixtureRoutes())
  const kind = (method: string, path: string) => registry.match(method, path).kind

  test('a route that makes something names what it made, and never the example, in its next hop', () => {
    const thing = free({
      id: 'things.show',
      path: '/things/:id',
      params: z.strictObject({ id: z.string() }),
      example: { params: { id: 'thing_1' }, output: { n: 1 } },
    })
    const make = free({ id: 'things.make', method: 'POST', path: '/things', next: '/things/thing_1', nextBefore: '/' })
    const match = createRegistry([free({ path: '/' }), thing, make]).match('POST', '/things')
    expect(match).toMatchObject({ kind: 'route', next: '/' })
    expect(match.kind === 'route' && match.route.madeHop?.('thing_9')).toBe('/things/thing_9')
  })

  test('fixed segments, parameters and the next hop', () => {
    const match = registry.match('GET', '/v1/thing/a%20b')
    expect(match).toMatchObject({ kind: 'route', params: { id: 'a b' }, next: '/v1/report/a%20b' })
  })

  test('another method on a known path gets the allowed methods', () => {
    expect(registry.match('DELETE', '/v1/thing/1')).toMatchObject({
      kind: 'unknown_method',
      allow: 'GET, HEAD, OPTIONS',
    })
    expect(registry.match('HEAD', '/v1/order')).toMatchObject({ kind: 'unknown_method', allow: 'POST, OPTIONS' })
    expect(kind('OPTIONS', '/v1/order')).toBe('preflight')
    expect(registry.match('HEAD', '/v1/report/1')).toMatchObject({ kind: 'route', headOnly: true })
  })

  test('A12: spellings of a path that are not the path match nothing', () => {
    for (const path of [
      '//v1/report/1',
      '/V1/report/1',
      '/v1/REPORT/1',
      '/v1%2freport/1',
      '/v1/%72eport/1',
      '/v1/./report/1',
      '/v1/report;x/1',
      '/v1/report/1;x',
      '/v1/report/1%00',
      '/v1/report/1%0a',
      '/v1/report/%2e%2e',
      '/v1/report/..',
      '/v1/report/.',
      '/v1/report/a%2fb',
      '/v1/report/a%5cb',
      '/v1/report/a\\b',
      '/v1/report/%31',
      '/v1/report/%',
      '/v1/report/%zz',
      '/v1/report/%ff',
      '/v1/report/1/',
      '/v1/report/',
      '/v1/report',
      '/v1//report/1',
      '',
      '*',
      'v1/report/1',
    ])
      expect(kind('GET', path), path).toBe('unknown_path')
  })
})
