import { expect, test } from 'vitest'
import { isSignedJws, type Jws, jwsCharsMax, readJws } from './jws.ts'
import { issuer, keys, signedJws } from './signed-jws.fixture.ts'

const text = signedJws({ score: 1 }, { typ: 'rating+jwt' })
const x = keys.get('key-1')?.x ?? ''
const [head = '', body = '', tail = ''] = text.split('.')

test('a compact JWS is read into its parts, and verifies by its key alone', async () => {
  const jws = readJws(text) as Jws
  expect(jws).toMatchObject({ kid: `${issuer}#key-1`, typ: 'rating+jwt' })
  expect(Buffer.from(jws.payload).toString()).toBe('{"score":1}')
  expect(Buffer.from(jws.signed).toString()).toBe(`${head}.${body}`)
  expect(await isSignedJws(jws, x)).toBe(true)
  expect(await isSignedJws({ ...jws, signed: jws.signed.slice(1) }, x)).toBe(false)
  expect(await isSignedJws(jws, `${x.slice(0, -2)}AA`)).toBe(false)
  expect(await isSignedJws(jws, 'AAAA')).toBe(false)
  expect(await isSignedJws({ ...jws, signature: jws.signature.slice(1) }, x)).toBe(false)
  expect(readJws(signedJws({}))?.typ).toBeUndefined()
  expect(readJws(signedJws({}, { typ: 7 }))?.typ).toBeUndefined()
})

test('anything else is none', () => {
  for (const given of [
    '',
    'a.b.c',
    ` ${text}`,
    `${text}.`,
    `${head}.${body}`,
    `${head}.${body}.${tail.slice(1)}`,
    `${head}..${tail}`,
    `.${body}.${tail}`,
    // The last character of a signature has four spellings, and of a payload some.
    `${head}.${body}.${tail.slice(0, -1)}B`,
    `${head}.${body.slice(0, -1)}${body.endsWith('1') ? '2' : '1'}.${tail}`,
    signedJws({}, { alg: 'none' }),
    signedJws({}, { alg: 'ES256K' }),
    signedJws({}, { kid: 7 }),
    signedJws({}, { kid: undefined }),
    signedJws({}, { crit: ['b64'] }),
    `${Buffer.from('[]').toString('base64url')}.${body}.${tail}`,
  ])
    expect(readJws(given), given).toBeUndefined()
})

test('its length is limited, to the character', () => {
  expect(readJws(text, text.length)).toBeDefined()
  expect(readJws(text, text.length - 1)).toBeUndefined()
  expect(readJws(signedJws({ a: 'a'.repeat(jwsCharsMax) }))).toBeUndefined()
})
