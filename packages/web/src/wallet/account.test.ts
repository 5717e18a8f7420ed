import type { TypedDataDefinition } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { NodeIndex } from '../node/node-index.ts'
import { accountOf } from './account.ts'

const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const production = { networks: [] } as unknown as NodeIndex
const demo = {
  networks: [],
  demo: { accounts: [{ role: 'buyer', address: owner.address, private_key: `0x${'11'.repeat(32)}` }] },
} as unknown as NodeIndex

/** A wallet as browsers have them: it signs what JSON says and writes down what it was asked. */
function outsideWallet(chain = '0x1') {
  const asked: string[] = []
  let current = chain
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    asked.push(method)
    const [first, second] = (params ?? []) as [never, never]
    if (method === 'eth_chainId') return current
    if (method === 'wallet_switchEthereumChain') {
      current = (first as { chainId: string }).chainId
      return null
    }
    if (method === 'personal_sign') return owner.signMessage({ message: { raw: first } })
    const { types, ...rest } = JSON.parse(second) as { types: Record<string, unknown> } & TypedDataDefinition
    const { EIP712Domain, ...own } = types
    expect(EIP712Domain).toBeDefined()
    return owner.signTypedData({ ...rest, types: own } as TypedDataDefinition)
  }
  return { asked, wallet: { kind: 'outside' as const, name: 'Test', address: owner.address, provider: { request } } }
}

const authorization = {
  domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: `0x${'22'.repeat(20)}` as const },
  types: { TransferWithAuthorization: [{ name: 'value', type: 'uint256' }] },
  primaryType: 'TransferWithAuthorization' as const,
  message: { value: 20_000n },
}

test('an outside wallet signs the same bytes as any other, on the chain they are for', async () => {
  const { asked, wallet } = outsideWallet()
  const account = accountOf(production, wallet)
  expect(await account.signTypedData(authorization)).toBe(await owner.signTypedData(authorization))
  expect(asked).toEqual(['eth_chainId', 'wallet_switchEthereumChain', 'eth_signTypedData_v4'])
})

test('a wallet that is on the right chain is not asked to change it', async () => {
  const { asked, wallet } = outsideWallet('0x2105')
  await accountOf(production, wallet).signTypedData(authorization)
  expect(asked).toEqual(['eth_chainId', 'eth_signTypedData_v4'])
})

test('requests are signed as messages', async () => {
  const { asked, wallet } = outsideWallet()
  expect(await accountOf(production, wallet).signMessage({ message: 'a line' })).toBe(
    await owner.signMessage({ message: 'a line' }),
  )
  expect(asked).toEqual(['personal_sign'])
})

test('no wallet is ever asked to send a transaction', async () => {
  const { asked, wallet } = outsideWallet()
  await expect(accountOf(production, wallet).signTransaction({ to: owner.address } as never)).rejects.toThrow(
    'sends no transactions',
  )
  expect(asked).toEqual([])
})

test('a demo node is used with its own wallets only', () => {
  expect(() => accountOf(demo, outsideWallet().wallet)).toThrow('demo wallets only')
  expect(accountOf(demo, { kind: 'demo', role: 'buyer', address: owner.address }).address).toBe(owner.address)
  expect(() => accountOf(production, { kind: 'demo', role: 'buyer', address: owner.address })).toThrow()
})
