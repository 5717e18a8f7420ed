import { expect, test } from 'vitest'
import { Problem } from '../kernel/problem.ts'
import { systemRng } from '../kernel/random.ts'
import { createFixedKeyring, createJwsSigner, generateSigningKey } from '../signing/index.ts'
import { createTestDeps } from './proof-deps.fixture.ts'
import { createSession, type SessionDeps, sessionTokenType, verifySession } from './sessions.ts'

function sessionDeps(origin = 'https://node.example', key = generateSigningKey(systemRng)) {
  const { clock, advance } = createTestDeps()
  const keyring = createFixedKeyring(key, 0)
  const authority = new URL(origin).host
  const deps: SessionDeps = {
    clock,
    keyring,
    origin,
    authority,
    jws: createJwsSigner(keyring, { authority, clock, typ: sessionTokenType }),
  }
  return { deps, advance, key }
}

const account = { chainId: 8453, address: `0x${'ab'.repeat(20)}`, kind: 'key' } as const

test('a session names its account for fifteen minutes', () => {
  const { deps, advance } = sessionDeps()
  const { token, did } = createSession(deps, account)
  expect(did).toBe(`did:pkh:eip155:8453:${account.address}`)
  expect(verifySession(deps, token)).toEqual(account)
  advance(900_000)
  expect(() => verifySession(deps, token)).toThrow(Problem)
})

test('tokens of another node, another origin, another kind, or changed by a letter are refused', () => {
  const { deps, key } = sessionDeps()
  const { token } = createSession(deps, account)
  const receipt = createJwsSigner(deps.keyring, { authority: deps.authority, clock: deps.clock })
  const [head, , signature] = token.split('.')
  const bad = [
    createSession(sessionDeps().deps, account).token,
    createSession(sessionDeps('https://other.example', key).deps, account).token,
    receipt.sign(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()),
    `${head}.${Buffer.from('{"sub":"x"}').toString('base64url')}.${signature}`,
    'nonsense',
    '',
  ]
  for (const text of bad) expect(() => verifySession(deps, text), text).toThrow(Problem)
})
