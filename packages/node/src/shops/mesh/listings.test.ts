import { expect, test } from 'vitest'
import { agentCards, bazaarItems, originsIn, registrationFiles } from './listings.ts'

const origins = (document: unknown) => originsIn(document).map(({ origin }) => origin)
const content = {
  ...{
    protocol: '1.0.4',
    did: 'did:web:api.a.example',
    address: 'https://api.a.example',
    base_url: 'https://a.example',
  },
  ...{ name: 'A', sequence: 1, issued_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-01T00:15:00Z' },
  networks: [{ network: 'eip155:8453', asset: '0x1' }],
  offers: [
    {
      ...{
        capability: 'token.control.report',
        method: 'GET' as const,
        path: '/v1/report/{address}',
        price_micro: '20000',
      },
      ...{ networks: ['eip155:8453'], example: '/v1/report/0x1', site: 'base' as const },
    },
  ],
}
const peer = { did: content.did, recommended: true, content }

test('other directories name origins to visit, whatever else they say', () => {
  expect(
    origins({ items: [{ resource: 'https://api.b.example/v1/x?y=1' }, { resource: { url: 'https://c.example/x' } }] }),
  ).toEqual(['https://api.b.example', 'https://c.example'])
  expect(
    origins({ services: [{ name: 'web', endpoint: 'https://d.example/' }, { endpoint: 'did:web:d.example' }] }),
  ).toEqual(['https://d.example'])
  expect(
    origins({ name: 'card', url: 'https://e.example/a2a', supportedInterfaces: [{ url: 'https://f.example/' }] }),
  ).toEqual(['https://e.example', 'https://f.example'])
  const flood = Array.from({ length: 9_999 }, (_, i) => ({ resource: `https://n${i}.example/` }))
  expect(origins({ items: flood })).toHaveLength(64)
  for (const wrong of [
    null,
    [],
    'x',
    { items: 'x' },
    { items: [null, 5, { resource: 'ftp://g.example' }] },
    { url: 7 },
  ])
    expect(origins(wrong)).toEqual([])
})

test('listings in other shapes lead back to the same node', () => {
  const [item] = bazaarItems([peer])
  expect(item).toMatchObject({
    ...{ resource: 'https://a.example/v1/report/0x1', accepts: [{ scheme: 'exact', amount: '20000', asset: '0x1' }] },
  })
  expect(origins({ items: bazaarItems([peer]) })).toEqual(['https://a.example'])
  expect(origins(agentCards([peer])[0])).toEqual(['https://api.a.example'])
  expect(origins(registrationFiles([peer])[0])).toEqual(['https://a.example', 'https://api.a.example'])
})
