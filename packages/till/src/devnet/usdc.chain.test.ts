import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import { domainSeparator, getAbiItem, parseSignature, serializeSignature, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { demoAccount, demoIssuer, demoUsdcAddress } from './index.ts'
import {
  authorization,
  buyer,
  clients,
  operator,
  settler,
  signAuthorization,
  startTestChain,
  usdcAbi,
  usdcBalance,
  usdcDomain,
} from './test-chain.fixture.ts'

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

async function tokenOn(chainId = 8453) {
  const devnet = await startTestChain({ chainId })
  const { reader, wallet } = clients(devnet)
  const call = (functionName: string, args: readonly unknown[], account: Address = settler.address) =>
    reader.simulateContract({ address: devnet.usdc, abi: usdcAbi, functionName, args, account })
  const read = (functionName: string, args: readonly unknown[] = []) =>
    reader.readContract({ address: devnet.usdc, abi: usdcAbi, functionName, args })
  const write = async (functionName: string, args: readonly unknown[], account = settler) => {
    const hash = await wallet.writeContract({ address: devnet.usdc, abi: usdcAbi, functionName, args, account })
    return reader.getTransactionReceipt({ hash })
  }
  return { devnet, call, read, write }
}

const transferArgs = (message: ReturnType<typeof authorization>) => [
  message.from,
  message.to,
  message.value,
  message.validAfter,
  message.validBefore,
  message.nonce,
]

test('the domain is that of USDC, at an address that differs per chain and is no real USDC', async () => {
  for (const chainId of [8453, 137]) {
    const { devnet, read } = await tokenOn(chainId)
    expect(await read('name')).toBe('USD Coin')
    expect(await read('version')).toBe('2')
    expect(await read('decimals')).toBe(6)
    expect(await read('DOMAIN_SEPARATOR')).toBe(domainSeparator({ domain: usdcDomain(devnet) }))
  }
  const real = ['0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359']
  expect(demoUsdcAddress(8453)).not.toBe(demoUsdcAddress(137))
  expect(real).not.toContain(demoUsdcAddress(8453))
  expect(real).not.toContain(demoUsdcAddress(137))
})

test('an authorization moves the money once, in either overload, and says so in its events', async () => {
  const { devnet, read, write, call } = await tokenOn()
  const before = await usdcBalance(devnet, operator)
  const first = authorization()
  const receipt = await write('transferWithAuthorization', [
    ...transferArgs(first),
    await signAuthorization(devnet, first),
  ])
  expect(receipt.status).toBe('success')
  expect(receipt.logs).toHaveLength(2)
  expect(await read('authorizationState', [first.from, first.nonce])).toBe(true)

  const second = authorization()
  const { r, s, v } = parseSignature(await signAuthorization(devnet, second))
  await write('transferWithAuthorization', [...transferArgs(second), Number(v), r, s])
  expect(await usdcBalance(devnet, operator)).toBe(before + 2_000n)

  const again = [...transferArgs(first), await signAuthorization(devnet, first)]
  await expect(call('transferWithAuthorization', again)).rejects.toThrow('authorization is used or canceled')
})

test('authorizations out of time, of another signer, changed, high-s or over the balance are refused', async () => {
  const { devnet, call } = await tokenOn()
  const now = BigInt(devnet.control.head().timestamp)
  const refusal = async (message: ReturnType<typeof authorization>, signature: Hex, reason: string) =>
    expect(call('transferWithAuthorization', [...transferArgs(message), signature])).rejects.toThrow(reason)

  const expired = authorization({ validBefore: now - 1n })
  await refusal(expired, await signAuthorization(devnet, expired), 'authorization is expired')
  const early = authorization({ validAfter: now + 60n })
  await refusal(early, await signAuthorization(devnet, early), 'authorization is not yet valid')
  const signed = authorization()
  const signature = await signAuthorization(devnet, signed)
  await refusal({ ...signed, value: 2_000n }, signature, 'invalid signature')
  await refusal({ ...signed, from: settler.address }, signature, 'invalid signature')
  await refusal(signed, `${signature}00`, 'invalid signature length')
  const { r, s, yParity } = parseSignature(signature)
  const flipped = serializeSignature({ r, s: toHex(curveOrder - BigInt(s), { size: 32 }), yParity: 1 - yParity })
  await refusal(signed, flipped, "invalid signature 's' value")
  const rich = authorization({ value: 10n ** 15n })
  await refusal(rich, await signAuthorization(devnet, rich), 'transfer amount exceeds balance')
  const elsewhere = authorization()
  await refusal(elsewhere, await signAuthorization({ ...devnet, chainId: 137 }, elsewhere), 'invalid signature')
})

test('a cancelled authorization can no longer be used', async () => {
  const { devnet, call, write } = await tokenOn()
  const message = authorization()
  const cancellation = await buyer.signTypedData({
    domain: usdcDomain(devnet),
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: message.from, nonce: message.nonce },
  })
  const receipt = await write('cancelAuthorization', [message.from, message.nonce, cancellation])
  expect(receipt.logs).toHaveLength(1)
  const spent = [...transferArgs(message), await signAuthorization(devnet, message)]
  await expect(call('transferWithAuthorization', spent)).rejects.toThrow('authorization is used or canceled')
})

test('receiveWithAuthorization works for the payee only', async () => {
  const { devnet, call, write } = await tokenOn()
  const message = authorization({ to: settler.address.toLowerCase() as Address })
  const signature = await buyer.signTypedData({
    domain: usdcDomain(devnet),
    types: { ReceiveWithAuthorization: authorizationTypes.TransferWithAuthorization },
    primaryType: 'ReceiveWithAuthorization',
    message,
  })
  const args = [...transferArgs(message), signature]
  await expect(call('receiveWithAuthorization', args, operator)).rejects.toThrow('caller must be the payee')
  expect((await write('receiveWithAuthorization', args)).status).toBe('success')
})

test('permit gives an allowance that transferFrom spends', async () => {
  const { devnet, read, write, call } = await tokenOn()
  const deadline = BigInt(devnet.control.head().timestamp + 600)
  const message = { owner: buyer.address, spender: settler.address, value: 500n, nonce: 0n, deadline }
  const signature = await buyer.signTypedData({
    domain: usdcDomain(devnet),
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message,
  })
  await write('permit', [buyer.address, settler.address, 500n, deadline, signature])
  expect(await read('nonces', [buyer.address])).toBe(1n)
  await expect(call('permit', [buyer.address, settler.address, 500n, deadline, signature])).rejects.toThrow(
    'EIP2612: invalid signature',
  )
  await write('transferFrom', [buyer.address, operator, 500n])
  expect(await read('allowance', [buyer.address, settler.address])).toBe(0n)
})

test('a blacklisted account and a paused token stop payments until they are lifted', async () => {
  const { devnet, call, write } = await tokenOn()
  const issuer = privateKeyToAccount(demoIssuer(8453).privateKey)
  const message = authorization()
  const args = [...transferArgs(message), await signAuthorization(devnet, message)]
  await expect(call('pause', [])).rejects.toThrow('caller is not the owner')
  await write('blacklist', [message.from], issuer)
  await expect(call('transferWithAuthorization', args)).rejects.toThrow('account is blacklisted')
  await write('unBlacklist', [message.from], issuer)
  await write('pause', [], issuer)
  await expect(call('transferWithAuthorization', args)).rejects.toThrow('Pausable: paused')
  await write('unpause', [], issuer)
  await call('transferWithAuthorization', args)
  await write('mint', [demoAccount('custody').address, 5n], issuer)
  expect(await usdcBalance(devnet, demoAccount('custody').address)).toBe(1_000_000_000_005n)
})

test('both overloads of every signed method are in the interface', () => {
  for (const name of ['transferWithAuthorization', 'receiveWithAuthorization', 'cancelAuthorization', 'permit'])
    expect(usdcAbi.filter((item) => item.type === 'function' && item.name === name)).toHaveLength(2)
  expect(getAbiItem({ abi: usdcAbi, name: 'AuthorizationUsed' })).toBeDefined()
})
