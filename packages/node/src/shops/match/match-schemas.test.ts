import { expect, test } from 'vitest'
import { matchRequest } from './match-schemas.ts'

test('a query that is not text is refused before anything is bought: no database could keep it', () => {
  for (const query of ['short \u0000 squeeze', 'short \ud83d squeeze', '\udc00 squeeze']) {
    const parsed = matchRequest.safeParse({ query })
    expect(parsed.error?.issues).toMatchObject([{ path: ['query'], message: 'must be text' }])
  }
  expect(matchRequest.safeParse({ query: 'short \u{1f600} squeeze' }).success).toBe(true)
})
