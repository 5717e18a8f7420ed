import { siweMessage } from '@assay/protocol/siwe-message'
import { encodeSIWxHeader, formatSIWEMessage } from '@x402/extensions/sign-in-with-x'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { Problem } from '../kernel/problem.ts'
import { createAuthChallenge, createChallenge, type SiwxChallenge } from './create-auth-challenge.ts'
import { createTestDeps } from './proof-deps.fixture.ts'
import { verifySiwx } from './verify-siwx.ts'

const origin = 'http://127.0.0.1:4020'
const wallet = privateKeyToAccount(`0x${'0c'.repeat(32)}`)
const address = wallet.address.toLowerCase() as `0x${string}`

async function signed(challenge: SiwxChallenge, change: Record<string, unknown> = {}): Promise<string> {
  const info = { ...challenge.info, ...change } as SiwxChallenge['info']
  const message = siweMessage(info, { chainId: 8453, address })
  const signature = await wallet.signMessage({ message })
  return header({ ...info, address: wallet.address, chainId: 'eip155:8453', type: 'eip191', signature })
}

function header(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (error instanceof Problem ? error.code : String(error)),
  )
}

test('a signed challenge proves the account, once', async () => {
  const deps = createTestDeps()
  const proof = await signed(createChallenge(deps, origin))
  expect(await verifySiwx(deps, proof, origin)).toEqual({ chainId: 8453, address, kind: 'key' })
  expect(await codeOf(verifySiwx(deps, proof, origin))).toBe('proof_invalid')
})

test('of three concurrent copies of one proof one is accepted', async () => {
  const deps = createTestDeps()
  const proof = await signed(createChallenge(deps, origin))
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => verifySiwx(deps, proof, origin)))
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
})

test('the message is the one the stock x402 client signs', async () => {
  const deps = createTestDeps()
  const { info } = createChallenge(deps, origin)
  for (const fields of [info, { ...info, requestId: 'r-1', resources: ['https://a.example/x'] }]) {
    const theirs = formatSIWEMessage(
      { ...fields, chainId: 'eip155:8453', type: 'eip191' } as Parameters<typeof formatSIWEMessage>[0],
      wallet.address,
    )
    expect(siweMessage(fields, { chainId: 8453, address })).toBe(theirs)
  }
  const { statement: _, ...silent } = info
  const theirs = formatSIWEMessage(
    { ...silent, chainId: 'eip155:8453', type: 'eip191' } as Parameters<typeof formatSIWEMessage>[0],
    wallet.address,
  )
  expect(siweMessage(silent, { chainId: 8453, address })).toBe(theirs)

  const signature = await wallet.signMessage({ message: siweMessage(info, { chainId: 8453, address }) })
  const stock = encodeSIWxHeader({
    ...info,
    address: wallet.address,
    chainId: 'eip155:8453',
    type: 'eip191',
    signature,
  } as Parameters<typeof encodeSIWxHeader>[0])
  expect((await verifySiwx(deps, stock, origin)).address).toBe(address)
})

test('a proof for another origin, domain or chain is refused', async () => {
  const deps = createTestDeps()
  const challenge = createChallenge(deps, origin)
  const proofs = [
    signed(createChallenge(deps, 'http://127.0.0.1:4021')),
    signed(challenge, { domain: 'evil.example' }),
    signed(challenge, { uri: 'http://127.0.0.1:4020.evil.example/' }),
    signed(challenge, { uri: 'nonsense' }),
    signed(challenge, { nonce: 'f'.repeat(32) }),
    signed(challenge, { nonce: deps.nonces.issue('http://127.0.0.1:4021', 60_000).nonce }),
  ]
  for (const proof of proofs) expect(await codeOf(verifySiwx(deps, await proof, origin))).toBe('proof_invalid')
  deps.chainIds = [137]
  expect(await codeOf(verifySiwx(deps, await signed(challenge), origin))).toBe('proof_invalid')
})

test('time decides: too old, from the future, expired, not yet valid', async () => {
  const deps = createTestDeps()
  const challenge = createChallenge(deps, origin)
  const at = (ms: number) => new Date(deps.clock.nowMs() + ms).toISOString()
  for (const change of [
    { issuedAt: at(60_000) },
    { issuedAt: at(-400_000) },
    { issuedAt: '2026-13-45T99:99:99Z' },
    { expirationTime: at(-1) },
    { notBefore: at(60_000) },
  ])
    expect(await codeOf(verifySiwx(deps, await signed(challenge, change), origin)), JSON.stringify(change)).toBe(
      'proof_invalid',
    )
  const late = await signed(challenge)
  deps.advance(300_001)
  expect(await codeOf(verifySiwx(deps, late, origin))).toBe('proof_invalid')
})

test('a caller whose clock is a little ahead is let in', async () => {
  const deps = createTestDeps()
  const proof = await signed(createChallenge(deps, origin), {
    issuedAt: new Date(deps.clock.nowMs() + 3_000).toISOString(),
  })
  expect((await verifySiwx(deps, proof, origin)).address).toBe(address)
})

test('a stranger with a wrong signature cannot burn the nonce of someone else', async () => {
  const deps = createTestDeps()
  const challenge = createChallenge(deps, origin)
  const forged = header({
    ...challenge.info,
    address: wallet.address,
    chainId: 'eip155:8453',
    type: 'eip191',
    signature: `0x${'11'.repeat(65)}`,
  })
  expect(await codeOf(verifySiwx(deps, forged, origin))).toBe('proof_invalid')
  expect((await verifySiwx(deps, await signed(challenge), origin)).address).toBe(address)
})

test('contract wallets: valid, invalid, and could not check are three different answers', async () => {
  for (const [outcome, code] of [
    ['valid', undefined],
    ['invalid', 'proof_invalid'],
    ['could_not_check', 'proof_unchecked'],
  ] as const) {
    const deps = createTestDeps(async () => outcome)
    const { info } = createChallenge(deps, origin)
    const proof = header({
      ...info,
      address: `0x${'ab'.repeat(20)}`,
      chainId: 'eip155:8453',
      type: 'eip191',
      signature: '0x1234',
    })
    expect(await codeOf(verifySiwx(deps, proof, origin))).toBe(code)
  }
})

test('the challenge answer carries a message ready to sign when the account is named', () => {
  const deps = createTestDeps()
  const answer = createAuthChallenge(deps, { origin, account: { chainId: 8453, address } })
  expect(answer.message).toContain(wallet.address)
  expect(answer.message).toContain(`Nonce: ${answer.info.nonce}`)
  expect(answer.supportedChains).toContainEqual({ chainId: 'eip155:137', type: 'eip191' })
})
