import { didWeb } from '@assay/protocol/did'
import { verifyReceipt } from '@assay/protocol/receipt'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { systemRng } from '../kernel/random.ts'
import { createFixedKeyring } from '../signing/index.ts'
import { generateSigningKey } from '../signing/signing-key.ts'
import { createJwsPort } from './jws-port.ts'

const key = generateSigningKey(systemRng)
const port = createJwsPort(createFixedKeyring(key, 0), ['node.example', 'api.node.example'], systemClock)
const payer = `0x${'1'.repeat(40)}`

test.each(['node.example', 'api.node.example'])(
  'a receipt for what is sold at %s is signed under that host',
  async (authority) => {
    const resourceUrl = `https://${authority}/v1/thing`
    const issuedAt = Math.floor(systemClock.nowMs() / 1000)
    const jws = port.sign({ version: 1, network: 'eip155:8453', resourceUrl, payer, issuedAt }, resourceUrl)
    const keys = new Map([[key.keyId, { keyId: key.keyId, x: key.x, notBefore: 0, notAfter: undefined }]])
    expect(await verifyReceipt(jws, { keys, authority, expected: { resourceUrl } })).toMatchObject({
      status: 'verified',
    })
    expect(port.verify(jws)).toMatchObject({ resourceUrl })
  },
)

test('a host that is not ours is never signed for, nor believed', () => {
  const kidOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()).kid as string
  expect(kidOf(port.sign({ a: 1 }, 'https://other.example/x'))).toContain(`${didWeb('node.example')}#`)
  const other = createJwsPort(createFixedKeyring(key, 0), ['other.example'], systemClock)
  expect(port.verify(other.sign({ a: 1 }))).toBeUndefined()
})
