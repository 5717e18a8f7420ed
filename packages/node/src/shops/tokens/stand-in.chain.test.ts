import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Devnet } from '@assay/till/devnet'
import { type Abi, decodeErrorResult, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alwaysBlockId, policyRegistryAddress, registryAbi, roles, scopes, tokenAbi } from './abi/b20.ts'
import { type Actor, createActor } from './issuer.fixture.ts'
import { startTokenChain } from './token-chain.fixture.ts'

/** The order in which the published reference of the standard checks: of several violations the first one is named. */
let chain: Devnet
let admin: Actor
let token: Address
const stranger: Address = '0x1111111111111111111111111111111111111111'
const otherToken: Address = '0xb200000000000000000000dddddddddddddddddd'
const memo = `0x${'00'.repeat(32)}` as Hex
let next = 0

async function refusal(to: Address, abi: Abi, from: Address, name: string, ...args: unknown[]): Promise<string> {
  const data = encodeFunctionData({ abi, functionName: name, args })
  try {
    await chain.request('eth_call', [{ from, to, data }, 'latest'])
    return 'done'
  } catch (error) {
    const raw = (error as { data?: Hex }).data ?? '0x'
    try {
      const { errorName, args: given } = decodeErrorResult({ abi, data: raw })
      return errorName === 'PolicyForbids' ? `${errorName} ${scopeOf(given?.[0] as Hex)}` : errorName
    } catch {
      return raw
    }
  }
}

const scopeOf = (hash: Hex) => Object.entries(scopes).find(([, one]) => one === hash)?.[0] ?? hash
const called = (from: Address, name: string, ...args: unknown[]) => refusal(token, tokenAbi, from, name, ...args)
const asked = (from: Address, name: string, ...args: unknown[]) =>
  refusal(policyRegistryAddress, registryAbi, from, name, ...args)

/** A separate token on which everything is paused and every scope denies everybody. */
async function closed(fork: 'beryl' | 'cobalt' | 'denim'): Promise<void> {
  await chain.request('devnet_setB20Fork', [fork])
  next += 1
  token = await admin.create(`order ${next}`)
  for (const role of [roles.PAUSE_ROLE, roles.UNPAUSE_ROLE]) await admin.call(token, 'grantRole', role, admin.address)
  for (const [name, scope] of Object.entries(scopes))
    if (name !== 'SEIZE_EXEMPT_POLICY') await admin.call(token, 'updatePolicy', scope, alwaysBlockId)
  await admin.call(token, 'pause', fork === 'beryl' ? [0, 1, 2] : [0, 1, 2, 3])
}
const unpause = () => admin.call(token, 'unpause', [0, 1, 2, 3])
const open = (scope: Hex) => admin.call(token, 'updatePolicy', scope, 0n)
const grant = (role: Hex) => admin.call(token, 'grantRole', role, admin.address)

beforeAll(async () => {
  chain = await startTokenChain()
  admin = await createActor(chain)
}, 60_000)
afterAll(() => chain.stop())

describe('the order of checks of the stand-in', () => {
  test('transfer: pause, receiver, sender, executor, sender policy, receiver policy, balance', async () => {
    await closed('denim')
    expect(await called(zeroAddress, 'transfer', otherToken, 1n)).toBe('ContractPaused')
    await unpause()
    expect(await called(zeroAddress, 'transfer', otherToken, 1n)).toBe('InvalidReceiver')
    expect(await called(zeroAddress, 'transfer', token, 1n)).toBe('InvalidReceiver')
    expect(await called(zeroAddress, 'transfer', stranger, 1n)).toBe('InvalidSender')
    expect(await called(stranger, 'transfer', stranger, 1n)).toBe('PolicyForbids TRANSFER_EXECUTOR_POLICY')
    await open(scopes.TRANSFER_EXECUTOR_POLICY)
    expect(await called(stranger, 'transferWithMemo', stranger, 1n, memo)).toBe('PolicyForbids TRANSFER_SENDER_POLICY')
    await open(scopes.TRANSFER_SENDER_POLICY)
    expect(await called(stranger, 'transfer', stranger, 1n)).toBe('PolicyForbids TRANSFER_RECEIVER_POLICY')
    await open(scopes.TRANSFER_RECEIVER_POLICY)
    expect(await called(stranger, 'transfer', stranger, 1n)).toBe('InsufficientBalance')
  })

  test('transferFrom: pause, receiver, sender, allowance, executor, sender policy', async () => {
    await closed('denim')
    const call = (from: Address, to: Address, amount: bigint) => called(stranger, 'transferFrom', from, to, amount)
    expect(await call(zeroAddress, zeroAddress, 1n)).toBe('ContractPaused')
    await unpause()
    expect(await call(zeroAddress, zeroAddress, 1n)).toBe('InvalidReceiver')
    expect(await call(zeroAddress, stranger, 1n)).toBe('InvalidSender')
    expect(await call(admin.address, stranger, 1n)).toBe('InsufficientAllowance')
    expect(await call(admin.address, stranger, 0n)).toBe('PolicyForbids TRANSFER_EXECUTOR_POLICY')
    await open(scopes.TRANSFER_EXECUTOR_POLICY)
    expect(await call(admin.address, stranger, 0n)).toBe('PolicyForbids TRANSFER_SENDER_POLICY')
  })

  test('before Denim the executor policy binds only those who move the tokens of others', async () => {
    await closed('cobalt')
    await unpause()
    expect(await called(stranger, 'transfer', otherToken, 0n)).toBe('PolicyForbids TRANSFER_SENDER_POLICY')
    await open(scopes.TRANSFER_SENDER_POLICY)
    await open(scopes.TRANSFER_RECEIVER_POLICY)
    expect(await called(stranger, 'transfer', otherToken, 0n)).toBe('done')
    expect(await called(stranger, 'transferFrom', stranger, otherToken, 0n)).toBe('done')
    expect(await called(stranger, 'transferFrom', admin.address, stranger, 0n)).toBe(
      'PolicyForbids TRANSFER_EXECUTOR_POLICY',
    )
  })

  test('mint: pause, role, receiver, receiver policy, cap; a batch asks role before its lengths', async () => {
    await closed('denim')
    expect(await called(admin.address, 'mint', zeroAddress, 1n)).toBe('ContractPaused')
    expect(await called(admin.address, 'batchMint', [], [])).toBe('ContractPaused')
    await unpause()
    expect(await called(admin.address, 'mint', zeroAddress, 1n)).toBe('AccessControlUnauthorizedAccount')
    expect(await called(admin.address, 'batchMint', [], [1n])).toBe('AccessControlUnauthorizedAccount')
    await grant(roles.MINT_ROLE)
    expect(await called(admin.address, 'mint', otherToken, 1n)).toBe('InvalidReceiver')
    expect(await called(admin.address, 'batchMint', [], [1n])).toBe('LengthMismatch')
    expect(await called(admin.address, 'batchMint', [], [])).toBe('EmptyBatch')
    expect(await called(admin.address, 'batchMint', [otherToken], [1n])).toBe('InvalidReceiver')
    expect(await called(admin.address, 'mint', stranger, 1n)).toBe('PolicyForbids MINT_RECEIVER_POLICY')
    await open(scopes.MINT_RECEIVER_POLICY)
    await admin.call(token, 'updateSupplyCap', 0n)
    expect(await called(admin.address, 'mint', stranger, 1n)).toBe('SupplyCapExceeded')
  })

  test('burn, burnBlocked and seize: pause, role, then what is asked for', async () => {
    await closed('denim')
    const seize = (from: Address, to: Address) => called(admin.address, 'seizeWithMemo', from, to, 1n, memo)
    for (const one of [called(admin.address, 'burn', 1n), called(admin.address, 'burnBlocked', stranger, 1n)])
      expect(await one).toBe('ContractPaused')
    expect(await seize(zeroAddress, zeroAddress)).toBe('ContractPaused')
    await unpause()
    for (const one of [called(admin.address, 'burn', 1n), called(admin.address, 'burnBlocked', stranger, 1n)])
      expect(await one).toBe('AccessControlUnauthorizedAccount')
    expect(await seize(zeroAddress, zeroAddress)).toBe('AccessControlUnauthorizedAccount')
    for (const role of [roles.BURN_ROLE, roles.BURN_BLOCKED_ROLE, roles.SEIZE_ROLE]) await grant(role)
    expect(await called(admin.address, 'burnBlocked', stranger, 1n)).toBe('InsufficientBalance')
    expect(await seize(zeroAddress, otherToken)).toBe('InvalidReceiver')
    expect(await seize(zeroAddress, stranger)).toBe('InvalidSender')
    expect(await seize(stranger, stranger)).toBe('InvalidReceiver')
    expect(await seize(token, stranger)).toBe('AccountNotSeizable')
    await admin.call(token, 'updatePolicy', scopes.SEIZE_EXEMPT_POLICY, alwaysBlockId)
    expect(await seize(token, stranger)).toBe('PolicyForbids SEIZE_RECEIVER_POLICY')
    await open(scopes.SEIZE_RECEIVER_POLICY)
    expect(await seize(token, stranger)).toBe('InsufficientBalance')
  })

  test('roles, scopes and pause: an undecodable feature, then the role, then the content', async () => {
    await closed('beryl')
    const scope = scopes.SEIZE_EXEMPT_POLICY
    expect(await called(stranger, 'updatePolicy', scope, 99n)).toBe('AccessControlUnauthorizedAccount')
    expect(await called(admin.address, 'updatePolicy', scope, 99n)).toBe('UnsupportedPolicyType')
    expect(await called(admin.address, 'updatePolicy', scopes.MINT_RECEIVER_POLICY, 99n)).toBe('PolicyNotFound')
    expect(await called(stranger, 'pause', [3])).toMatch(/^0x[0-9a-f]{8}$/)
    expect(await called(stranger, 'pause', [])).toBe('AccessControlUnauthorizedAccount')
    expect(await called(admin.address, 'pause', [])).toBe('EmptyFeatureSet')
    expect(await called(zeroAddress, 'approve', zeroAddress, 1n)).toBe('InvalidApprover')
    expect(await called(stranger, 'approve', zeroAddress, 1n)).toBe('InvalidSpender')
  })

  test('an announcement holds no other one', async () => {
    await closed('denim')
    await grant(roles.OPERATOR_ROLE)
    const inner = encodeFunctionData({ abi: tokenAbi, functionName: 'announce', args: [[], 'b', '', ''] })
    expect(await called(admin.address, 'announce', [inner], 'a', '', '')).toBe('AnnouncementInProgress')
    expect(await called(admin.address, 'announce', ['0x12'], 'a', '', '')).toBe('InternalCallMalformed')
  })

  test('the registry: found, type, admin, size; of children existence before kind', async () => {
    const list = (await admin.registry('createPolicy', admin.address, 0)) as bigint
    expect(await asked(stranger, 'createPolicy', zeroAddress, 2)).toBe('ZeroAddress')
    expect(await asked(stranger, 'createCompositePolicy', stranger, 0, [])).toBe('IncompatiblePolicyType')
    expect(await asked(stranger, 'createCompositePolicy', stranger, 2, [99n])).toBe('ChildPoliciesOutsideOfRange')
    expect(await asked(stranger, 'createCompositePolicy', stranger, 2, [0n, 99n])).toBe('PolicyNotFound')
    expect(await asked(stranger, 'createCompositePolicy', stranger, 2, [0n, list])).toBe('InvalidChildPolicy')
    expect(await asked(stranger, 'updateAllowlist', 99n, true, [])).toBe('PolicyNotFound')
    expect(await asked(stranger, 'updateAllowlist', list, true, [])).toBe('IncompatiblePolicyType')
    expect(await asked(stranger, 'updateBlocklist', list, true, [])).toBe('Unauthorized')
    expect(await asked(stranger, 'updateComposite', list, [])).toBe('IncompatiblePolicyType')
    expect(await asked(admin.address, 'updateBlocklist', list | (1n << 63n), true, [])).toBe('PolicyNotFound')
    expect(await asked(stranger, 'renounceAdmin', alwaysBlockId)).toBe('Unauthorized')
    expect(await asked(stranger, 'finalizeUpdateAdmin', list)).toBe('NoPendingAdmin')
  })
})
