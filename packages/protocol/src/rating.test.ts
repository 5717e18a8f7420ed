import { expect, test } from 'vitest'
import { type CreditRating, verifyRating } from './rating.ts'
import { issuer, keys, signedJws, validity } from './signed-jws.fixture.ts'

const at = (seconds: number) => new Date(seconds * 1_000).toISOString()
const shown = {
  subject: 'did:x402:0x2c7536e3605d9c16a7a3d7b1898e529396a65c23',
  method: 'assay-credit-1.0',
  issuer,
  score: 30,
  interval: { low: 30, high: 50, level: 0.9 },
  components: [{ id: 'paid', value: 12, evidence: { calls: 40 } }],
  evidence: { calls: 40 },
  computed_at: at(validity.notBefore + 600),
  valid_until: at(validity.notBefore + 7_200),
}
const nowMs = (validity.notBefore + 3_600) * 1_000

type Asked = { signed?: object; head?: Record<string, unknown>; subject?: string; nowMs?: number }
const check = ({ signed = shown, head = {}, subject, ...options }: Asked = {}, rating: object = signed) =>
  verifyRating({ ...rating, jws: signedJws(signed, head) } as CreditRating, {
    ...{ keys, nowMs, ...options },
    ...(subject === undefined ? {} : { subject }),
  })
const refused = (reason: string) => ({ status: 'invalid', reason })

test('a rating verifies for the DID that it is about', async () => {
  expect(await check()).toEqual({ status: 'verified', keyId: 'key-1' })
  expect(await check({ subject: shown.subject })).toEqual({ status: 'verified', keyId: 'key-1' })
  expect(await check({ subject: 'did:x402:0x00' })).toEqual(refused('it is about another DID'))
})

test('what is shown is what was signed, all of it and nothing more', async () => {
  const other = refused('what is shown is not what was signed')
  expect(await check({}, { ...shown, score: 31 })).toEqual(other)
  expect(await check({}, { ...shown, note: 'excellent' })).toEqual(other)
  const { evidence: _, ...less } = shown
  expect(await check({}, less)).toEqual(other)
  // The order of members says nothing.
  expect(await check({}, Object.fromEntries(Object.entries(shown).reverse()))).toMatchObject({ status: 'verified' })
})

test('it is signed by a key of its issuer that was valid when it was computed', async () => {
  expect(await check({ head: { kid: 'did:web:other.test#key-1' } })).toEqual(
    refused('the key is not one of the issuer'),
  )
  const late = refused('the key was not valid at that time')
  expect(await check({ head: { kid: `${issuer}#key-2` } })).toEqual(late)
  expect(await check({ head: { kid: issuer } })).toEqual(late)
  expect(await check({ signed: { ...shown, computed_at: 'soon' } })).toEqual(late)
  expect(await check({ signed: { ...shown, computed_at: at(validity.notBefore - 60) } })).toMatchObject({
    ...{ status: 'verified' },
  })
  expect(await check({ signed: { ...shown, computed_at: at(validity.notBefore - 61) } })).toEqual(late)
  const [head, , tail] = signedJws(shown).split('.')
  const [, body] = signedJws({ ...shown, score: 99 }).split('.')
  const forged = { ...shown, score: 99, jws: [head, body, tail].join('.') }
  expect(await verifyRating(forged, { keys, nowMs })).toEqual(refused('the signature does not fit'))
})

test('it ends when it says, and one without an end has ended', async () => {
  const endsMs = Date.parse(shown.valid_until)
  expect(await check({ nowMs: endsMs - 1 })).toMatchObject({ status: 'verified' })
  expect(await check({ nowMs: endsMs })).toEqual(refused('it is too old'))
  expect(await check({ signed: { ...shown, valid_until: 'never' } })).toEqual(refused('it is too old'))
})

test('what is no rating is not read', async () => {
  const unreadable = refused('the rating cannot be read')
  for (const payload of [null, 'text', []])
    expect(await verifyRating({ ...shown, jws: signedJws(payload) }, { keys, nowMs })).toEqual(unreadable)
  expect(await verifyRating({ ...shown, jws: '' }, { keys, nowMs })).toEqual(unreadable)
  const long = signedJws({ ...shown, method: 'a'.repeat(20_000) })
  expect(await verifyRating({ ...shown, jws: long }, { keys, nowMs })).toEqual(unreadable)
})
