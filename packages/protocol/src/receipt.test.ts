import { expect, test } from 'vitest'
import { verifyReceipt } from './receipt.ts'
import { authority, issuer, keys, signedJws, validity } from './signed-jws.fixture.ts'

const receipt = {
  version: 1,
  network: 'eip155:8453',
  resourceUrl: 'https://node.test/weather',
  payer: `0x${'aB'.repeat(20)}`,
  issuedAt: validity.notBefore + 600,
}
const log = { origin: 'node.test/log', leaf_hash: 'AAAA' }
const check = (payload: unknown, expected = {}, head = {}) =>
  verifyReceipt(signedJws(payload, head), { keys, authority, expected })
const refused = (reason: string) => ({ status: 'invalid', reason })
const unreadable = refused('the receipt cannot be read')

test('a receipt is read as it was signed', async () => {
  expect(await check(receipt)).toEqual({ status: 'verified', receipt, keyId: 'key-1' })
  const whole = { ...receipt, transaction: '0xabc', log }
  expect(await check(whole)).toEqual({ status: 'verified', receipt: whole, keyId: 'key-1' })
  // What later versions add is no reason to refuse, and none to believe.
  expect(await check({ ...receipt, transaction: '', extra: true })).toEqual({
    ...{ status: 'verified', receipt, keyId: 'key-1' },
  })
})

test('one that lacks a part, or has one of another kind, is not read', async () => {
  for (const part of Object.keys(receipt)) {
    expect(await check({ ...receipt, [part]: undefined }), part).toEqual(unreadable)
    expect(await check({ ...receipt, [part]: [] }), part).toEqual(unreadable)
  }
  for (const more of [
    { version: 2 },
    { transaction: 7 },
    { log: 'AAAA' },
    { log: { origin: 'node.test/log' } },
    { log: { leaf_hash: 'AAAA' } },
    { log: { origin: 7, leaf_hash: 'AAAA' } },
  ])
    expect(await check({ ...receipt, ...more }), JSON.stringify(more)).toEqual(unreadable)
  for (const payload of [null, 'text', []]) expect(await check(payload)).toEqual(unreadable)
  expect(await verifyReceipt('no receipt', { keys, authority })).toEqual(unreadable)
})

test('it is of this seller, by a key that was valid then, and signed by it', async () => {
  expect(await check(receipt, {}, { kid: 'did:web:other.test#key-1' })).toEqual(
    refused('the receipt is of another seller'),
  )
  const late = refused('the key was not valid at that time')
  expect(await check(receipt, {}, { kid: `${issuer}#key-2` })).toEqual(late)
  expect(await check(receipt, {}, { kid: issuer })).toEqual(late)
  // Clocks differ by a minute.
  expect(await check({ ...receipt, issuedAt: validity.notBefore - 60 })).toMatchObject({ status: 'verified' })
  expect(await check({ ...receipt, issuedAt: validity.notBefore - 61 })).toEqual(late)
  expect(await check({ ...receipt, issuedAt: validity.notAfter + 61 })).toEqual(late)
  const [head, , tail] = signedJws(receipt).split('.')
  const [, body] = signedJws({ ...receipt, network: 'eip155:137' }).split('.')
  expect(await verifyReceipt([head, body, tail].join('.'), { keys, authority })).toEqual(
    refused('the signature does not fit'),
  )
})

test('it is for what was bought', async () => {
  const whole = { ...receipt, log }
  const { resourceUrl, payer, network } = receipt
  expect(await check(whole, { resourceUrl, payer: payer.toLowerCase(), network, log })).toMatchObject({
    ...{ status: 'verified' },
  })
  expect(await check(whole, { resourceUrl: `${resourceUrl}?city=rome` })).toEqual(refused('resourceUrl is another one'))
  expect(await check(whole, { payer: `0x${'cd'.repeat(20)}` })).toEqual(refused('payer is another one'))
  expect(await check(whole, { network: 'eip155:137' })).toEqual(refused('network is another one'))
  for (const other of [
    { ...log, origin: 'other.test/log' },
    { ...log, leaf_hash: 'BBBB' },
  ])
    expect(await check(whole, { log: other })).toEqual(refused('log is another one'))
  expect(await check(receipt, { log })).toEqual(refused('log is another one'))
})
