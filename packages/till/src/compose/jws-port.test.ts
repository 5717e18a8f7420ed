import { readJws } from '@assay/protocol/jws'
import { verifyReceipt } from '@assay/protocol/receipt'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { systemRng } from '../kernel/random.ts'
import { createFixedKeyring, generateSigningKey } from '../signing/index.ts'
import { createJwsPort } from './jws-port.ts'

const key = generateSigningKey(systemRng)
const port = createJwsPort(createFixedKeyring(key, 0), 'node.example', systemClock, ['api.node.example'])
const keys = new Map([[key.keyId, { keyId: key.keyId, x: key.x, notBefore: 0, notAfter: undefined }]])
const receipt = {
  version: 1,
  network: 'eip155:8453',
  resourceUrl: 'https://api.node.example/v1/match',
  payer: '0x1111111111111111111111111111111111111111',
  issuedAt: 1_700_000_000,
}

test('a receipt of the second address of a node verifies there: it is of no other seller', async () => {
  const signed = port.sign(receipt, 'api.node.example')
  expect(await verifyReceipt(signed, { keys, authority: 'api.node.example' })).toMatchObject({ status: 'verified' })
  expect(await verifyReceipt(signed, { keys, authority: 'node.example' })).toMatchObject({ status: 'invalid' })
  expect(port.verify(signed)).toEqual(receipt)
})

test('the main address signs where none is named, and for a name that is not ours', () => {
  for (const signed of [port.sign(receipt), port.sign(receipt, 'stranger.example')]) {
    expect(readJws(signed)?.kid).toBe(`did:web:node.example#${key.keyId}`)
    expect(port.verify(signed)).toEqual(receipt)
  }
})
