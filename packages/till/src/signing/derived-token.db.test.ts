import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { systemRng } from '../kernel/random.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { createTokenMaker, tokenHash } from './derived-token.ts'
import { revokeTokens } from './token-secret.ts'

const db = await useTestDatabase({ poolSize: 10 })

const tokens = createTokenMaker(systemRng, 'asub')
const made = async (name: string) => (await tokens.issuer(db.database))(name)

test('processes that ask for the first secret together agree on one', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => made('wallet 1')))
  expect(new Set(all.map(({ token }) => token)).size).toBe(1)
  expect(all[0]).toMatchObject({ token: expect.stringMatching(/^asub_1_/), secretVersion: 1 })
})

test('a token is made again from its version and name, and not once that version was revoked', async () => {
  const { token, hash, secretVersion } = await made('wallet 2')
  expect(hash).toEqual(tokenHash(token))
  expect(await tokens.remake(db.database, secretVersion, 'wallet 2')).toBe(token)
  expect(await tokens.remake(db.database, secretVersion, 'wallet 3')).not.toBe(token)
  expect(await tokens.remake(db.database, 0, 'wallet 2')).toBeUndefined()
  const revoked = await Promise.all(
    Array.from({ length: 4 }, () => revokeTokens(db.database, systemRng, systemClock.nowMs())),
  )
  expect(await tokens.remake(db.database, secretVersion, 'wallet 2')).toBeUndefined()
  const next = await made('wallet 2')
  expect(next.secretVersion).toBe(Math.max(...revoked.map(({ version }) => version)))
  expect(next.token).not.toBe(token)
  // What a leaked backup could still make is deleted with the revocation.
  const { rows } = await db.owner.query(
    'select version from token_secret where revoked_at is not null and secret is not null',
  )
  expect(rows).toEqual([])
})

test('any text is distinguished from a token', async () => {
  const { token } = await made('wallet 4')
  expect(tokens.looksLike(token)).toBe(true)
  fc.assert(fc.property(fc.string(), (text) => !tokens.looksLike(text)))
  fc.assert(
    fc.property(fc.nat({ max: token.length - 1 }), fc.constantFrom('', 'i', '_', ' ', '\n', 'U'), (at, put) => {
      const changed = token.slice(0, at) + put + token.slice(at + 1)
      expect(tokens.looksLike(changed)).toBe(changed === token)
    }),
  )
})
