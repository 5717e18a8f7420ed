import { expect, test } from 'vitest'
import { freshTerms, termsExpireAt } from './claim-token.ts'
import { metaContent, txtValue } from './instructions.ts'
import { parseMeta, parseTxt } from './parse-proof.ts'

const secret = Buffer.alloc(32, 7)
const wallet = '0x00000000000000000000000000000000000000aa' as const
const other = '0x00000000000000000000000000000000000000bb' as const
const noon = Date.UTC(2026, 10, 16, 12)
const day = 86_400_000
const base = { caip2: 'eip155:8453' } as never

test('a token follows from secret, domain, wallet and day, and from nothing else', () => {
  const [today, yesterday] = freshTerms(secret, 'a.com', wallet, noon)
  expect(freshTerms(secret, 'a.com', wallet, noon + day / 4)[0]).toEqual(today)
  expect(freshTerms(secret, 'a.com', wallet, noon + day)[1]).toEqual(today)
  const tokens = [
    today,
    yesterday,
    freshTerms(secret, 'b.com', wallet, noon)[0],
    freshTerms(secret, 'a.com', other, noon)[0],
    freshTerms(Buffer.alloc(32, 8), 'a.com', wallet, noon)[0],
  ].map(({ token }) => token)
  expect(new Set(tokens).size).toBe(tokens.length)
  expect(termsExpireAt(noon).toISOString()).toBe('2026-11-18T00:00:00.000Z')
})

test('what is shown can be read back, with the wallet, from a record and from a meta tag', () => {
  const [terms] = freshTerms(secret, 'a.com', wallet, noon)
  const seen = {
    account: terms.claimId,
    token: terms.token,
    pay: 'eip155:8453:0x00000000000000000000000000000000000000AA',
  }
  expect(parseTxt(txtValue(base, terms))).toMatchObject(seen)
  expect(parseMeta(metaContent(base, terms))).toMatchObject(seen)
})
