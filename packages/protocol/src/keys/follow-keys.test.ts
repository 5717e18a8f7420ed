import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { zeroAddress } from '../address.ts'
import { followKeys } from './follow-keys.ts'
import { type KeyStatement, predecessorBytes, thumbprint } from './key-statement.ts'

type Pair = { x: string; privateKey: KeyObject }
const newPair = (): Pair => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return { x: publicKey.export({ format: 'jwk' }).x as string, privateKey }
}

/** `old` names `next`; `signer` is who signs it in fact. Counts how often the signature is checked. */
function rotation(old: Pair, next: Pair, signer: Pair, seen: { looks: number }): KeyStatement {
  const message: KeyStatement['message'] = {
    action: 'rotate',
    purpose: 'log',
    keyId: thumbprint(next.x),
    publicKey: next.x,
    notBefore: 1_800_000_000,
    notAfter: 0,
    node: 'https://node.example',
    api: 'https://node.example',
    origin: 'node.example/v1/log',
    treeSize: 1,
    operator: zeroAddress,
    predecessor: thumbprint(old.x),
    predecessorUntil: 1_900_000_000,
  }
  const signature = sign(null, predecessorBytes(message, 8453), signer.privateKey).toString('base64url')
  return {
    message,
    chainId: 8453,
    walletSignature: null,
    get predecessorSignature() {
      seen.looks += 1
      return signature
    },
  }
}

test('each statement is checked once, in whatever order a hostile list has them', async () => {
  const seen = { looks: 0 }
  const stranger = newPair()
  const chain = Array.from({ length: 30 }, newPair)
  const first = chain[0] as Pair
  const steps = chain.slice(1).map((next, n) => rotation(chain[n] as Pair, next, chain[n] as Pair, seen))
  // Named by a trusted key, as it seems, and signed by nobody who may: checked in every round.
  const forged = Array.from({ length: 30 }, () => rotation(first, newPair(), stranger, seen))
  const statements = [...forged, ...steps.reverse()]
  const { keys } = await followKeys(statements, {
    keys: [{ keyId: thumbprint(first.x), x: first.x, purpose: 'log' }],
    wallets: [],
    revokedBy: 'trusted',
  })
  expect([...keys.values()].map(({ x }) => x).sort()).toEqual(chain.map(({ x }) => x).sort())
  expect(seen.looks).toBeLessThanOrEqual(statements.length)
})
