import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { paidRouteIn } from './find-paid-route.ts'

const origin = 'https://api.example.org'
const paid = (price: unknown) => ({ 'x-payment-info': { price } })

describe('what an address sells', () => {
  test('the cheapest GET without parameters is checked', () => {
    const openapi = {
      paths: {
        '/a/{id}': { get: paid({ amount: '0.0001' }) },
        '/b': { get: paid({ amount: '0.02' }), post: paid({ amount: '0.001' }) },
        '/c': { get: paid({ mode: 'dynamic', min: '0.01', max: '9' }) },
        '/free': { get: {} },
      },
    }
    expect(paidRouteIn(origin, { openapi, manifest: undefined })).toEqual({
      url: `${origin}/c`,
      method: 'GET',
      from: '/openapi.json',
      others: 2,
    })
  })
  test('without OpenAPI the manifest is read, and addresses elsewhere are left alone', () => {
    const manifest = { resources: ['https://elsewhere.example/x', `${origin}/x?y=1`] }
    expect(paidRouteIn(origin, { openapi: undefined, manifest })).toMatchObject({
      url: `${origin}/x?y=1`,
      from: '/.well-known/x402',
    })
  })
  test('documents of any shape are survived', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (paths, resources) => {
        const route = paidRouteIn(origin, { openapi: { paths }, manifest: { resources } })
        if (route !== undefined) expect(new URL(route.url).origin).toBe(origin)
      }),
    )
  })
})
