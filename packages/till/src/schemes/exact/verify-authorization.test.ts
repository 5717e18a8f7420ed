import { toHex } from '@assay/protocol/bytes'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { ChainPort } from '../../chain/index.ts'
import { base, termsOn } from '../../gate/pure-call.fixture.ts'
import { fromHex } from '../../kernel/bytes.ts'
import { hashTransferAuthorization, usdcDomainSeparator } from '../../kernel/eip3009.ts'
import type { ExactSigned } from './decode-exact.ts'
import { checkAgain, checkSignature, checkWindow, readFunds } from './verify-authorization.ts'

const nowSeconds = 1_000_000
const terms = termsOn(base)
const windowOf = (validAfter: number, validBefore: number) =>
  checkWindow(
    { signed: { authorization: { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) } } as ExactSigned },
    terms,
    nowSeconds,
  )
const tooEarly = 'invalid_exact_evm_payload_authorization_valid_after'
const tooShortOrLong = 'invalid_exact_evm_payload_authorization_valid_before'

test('an authorization must be valid now, long enough to settle and no longer than was asked', () => {
  expect(windowOf(nowSeconds, nowSeconds + 12)).toEqual({ status: 'valid' })
  expect(windowOf(0, nowSeconds + terms.maxTimeoutSeconds + 30)).toEqual({ status: 'valid' })
  expect(windowOf(nowSeconds + 1, nowSeconds + 60)).toMatchObject({ status: 'invalid', reason: tooEarly })
  expect(windowOf(0, nowSeconds + 11)).toMatchObject({
    status: 'invalid',
    reason: tooShortOrLong,
    detail: 'The authorization must be valid for at least 12 s more.',
  })
  expect(windowOf(0, nowSeconds + terms.maxTimeoutSeconds + 31)).toMatchObject({
    status: 'invalid',
    reason: tooShortOrLong,
    detail: `The authorization must run out within ${terms.maxTimeoutSeconds} s.`,
  })
})

const account = privateKeyToAccount(`0x${'5a'.repeat(32)}`)
const separator = usdcDomainSeparator({ ...base.usdc, chainId: base.chainId })
const authorization = {
  from: account.address.toLowerCase() as `0x${string}`,
  to: terms.payTo,
  value: 20_000n,
  validAfter: 0n,
  validBefore: 2_000_000n,
  nonce: `0x${'33'.repeat(32)}` as const,
}
const digest = toHex(hashTransferAuthorization(separator, authorization))
const asked: unknown[] = []
const chainSaying = (verdict: 'valid' | 'invalid' | 'could_not_check') =>
  ({
    checkContractSignature: async (...given: unknown[]) => {
      asked.push(given)
      return verdict
    },
  }) as unknown as ChainPort
const check = (signature: `0x${string}`, verdict: 'valid' | 'invalid' | 'could_not_check', of = authorization) =>
  checkSignature({ payer: of.from, signed: { authorization: of, signature } }, separator, chainSaying(verdict))

test('the payer’s own signature needs no chain', async () => {
  asked.length = 0
  const signature = await account.sign({ hash: digest })
  expect(await check(signature, 'invalid')).toEqual({
    status: 'valid',
    by: 'key',
    digest: Buffer.from(fromHex(digest)),
  })
  expect(asked).toEqual([])
})

test('whatever does not recover to the payer is for its contract to verify', async () => {
  const signature = await account.sign({ hash: digest })
  const others: [`0x${string}`, typeof authorization][] = [
    [signature, { ...authorization, value: 20_001n }],
    [`${signature}00`, authorization],
    [toHex(fromHex(signature).subarray(0, 64)), authorization],
  ]
  for (const [given, of] of others) {
    asked.length = 0
    const signed = hashTransferAuthorization(separator, of)
    expect(await check(given, 'valid', of)).toEqual({ status: 'valid', by: 'contract', digest: signed })
    expect(asked).toEqual([[of.from, toHex(signed), given]])
    expect(await check(given, 'invalid', of)).toMatchObject({
      status: 'invalid',
      reason: 'invalid_exact_evm_payload_signature',
    })
    expect(await check(given, 'could_not_check', of)).toMatchObject({ status: 'could_not_check' })
  }
})

type Answers = 'valid' | 'invalid' | 'could_not_check'
type Account = { hasCode?: boolean; balanceMicro?: bigint; nonceUsed?: boolean }

/** One endpoint says this of the payer; enough of them agree on what is in `agreed`. */
const chainOf = (account: Account, agreed: { balance?: bigint; used?: boolean; contract?: Answers } = {}) =>
  ({
    payerStatus: async () => ({ hasCode: false, balanceMicro: terms.amountMicro, nonceUsed: false, ...account }),
    head: async () => ({ number: 7n }),
    usdcBalance: async (_: string, block: bigint) => (block === 7n ? (agreed.balance ?? 0n) : -1n),
    authorizationUsed: async () => agreed.used ?? false,
    checkContractSignature: async () => agreed.contract ?? 'invalid',
  }) as unknown as ChainPort

const verifiedBy = (by: 'key' | 'contract', validBefore = BigInt(nowSeconds + 60)) =>
  ({
    payment: {
      ...{ payer: authorization.from, paymentKey: authorization.nonce, validBefore },
      signed: { authorization, signature: '0x01' },
    },
    ...{ terms, payerIsKey: by === 'key', signedDigest: Buffer.from(fromHex(digest)) },
  }) as unknown as Parameters<typeof readFunds>[0]

const reason = 'invalid_exact_evm_payload_signature'

test('an ordinary wallet with enough money and an unused key can pay', async () => {
  const found = await readFunds(verifiedBy('key'), chainOf({}))
  expect(found).toEqual({ status: 'ok', balanceMicro: terms.amountMicro, used: false, payerIsKey: true })
  const rich = await readFunds(verifiedBy('contract'), chainOf({ hasCode: true, balanceMicro: terms.amountMicro + 1n }))
  expect(rich).toEqual({ status: 'ok', balanceMicro: terms.amountMicro + 1n, used: false, payerIsKey: false })
})

test('one endpoint alone turns nobody away: too little money and a used key are what enough of them say', async () => {
  const poor = { balanceMicro: terms.amountMicro - 1n, nonceUsed: true }
  expect(await readFunds(verifiedBy('key'), chainOf(poor, { balance: 9n, used: false }))).toMatchObject({
    balanceMicro: 9n,
    used: false,
  })
  expect(await readFunds(verifiedBy('key'), chainOf(poor, { balance: 3n, used: true }))).toMatchObject({
    balanceMicro: 3n,
    used: true,
  })
  // Only one that says so is a reason to ask the others.
  expect(await readFunds(verifiedBy('key'), chainOf({}, { used: true }))).toMatchObject({ used: false })
})

test('the code of a payer decides, whatever its key has signed', async () => {
  const asked = (contract: Answers) => readFunds(verifiedBy('key'), chainOf({ hasCode: true }, { contract }))
  expect(await asked('valid')).toMatchObject({ status: 'ok', payerIsKey: false })
  expect(await asked('invalid')).toMatchObject({ status: 'invalid', reason })
  expect(await asked('could_not_check')).toMatchObject({ status: 'could_not_check' })
})

test('before the settlement a contract is asked once more, a key is not, and time must be left for both', async () => {
  const again = (by: 'key' | 'contract', contract: Answers, validBefore?: bigint) =>
    checkAgain(verifiedBy(by, validBefore), chainOf({}, { contract }), nowSeconds)
  expect(await again('key', 'invalid')).toEqual({ status: 'valid' })
  expect(await again('contract', 'valid')).toEqual({ status: 'valid' })
  expect(await again('contract', 'invalid')).toMatchObject({ status: 'invalid', reason, released: reason })
  expect(await again('contract', 'could_not_check')).toMatchObject({ status: 'could_not_check' })
  expect(await again('key', 'valid', BigInt(nowSeconds + 12))).toEqual({ status: 'valid' })
  expect(await again('key', 'valid', BigInt(nowSeconds + 11))).toMatchObject({
    status: 'invalid',
    reason: tooShortOrLong,
    released: 'authorization_too_short',
  })
})
