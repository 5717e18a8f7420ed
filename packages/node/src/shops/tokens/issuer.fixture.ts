import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Devnet } from '@assay/till/devnet'
import { demoIssuer } from '@assay/till/devnet'
import { sha256 } from '@assay/till/kernel/bytes'
import { encodeFunctionData } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { factoryAbi, factoryAddress, policyRegistryAddress, registryAbi, tokenAbi, topicHashes } from './abi/b20.ts'
import { creationArguments, type DemoPolicies } from './demo/demo-tokens.ts'
import { tokenAddressOf } from './read/read-genesis.ts'

/** Somebody with gas who acts on the stand-in by ordinary transactions. */
export type Actor = {
  address: Address
  /** False where the chain reverted it. */
  call(token: Address, functionName: string, ...args: unknown[]): Promise<boolean>
  registry(functionName: string, ...args: unknown[]): Promise<bigint | undefined>
  create(key: string, options?: { admin?: Address; initCalls?: Hex[]; variant?: 0 | 1 }): Promise<Address>
}

type Receipt = { status: Hex; logs: { topics: Hex[] }[] }

export async function createActor(devnet: Devnet, name?: string): Promise<Actor> {
  const key = name === undefined ? demoIssuer(devnet.chainId).privateKey : toHex(sha256(`actor ${name}`))
  const account = privateKeyToAccount(key)
  const address = account.address.toLowerCase() as Address
  if (name !== undefined) await devnet.control.fund(address, { microUsdc: 0n })
  const send = (to: Address, data: Hex) => sendFrom(devnet, account, to, data)
  return {
    address,
    call: async (token, functionName, ...args) =>
      (await send(token, encodeFunctionData({ abi: tokenAbi, functionName, args }))).status === '0x1',
    registry: async (functionName, ...args) => {
      const receipt = await send(policyRegistryAddress, encodeFunctionData({ abi: registryAbi, functionName, args }))
      if (receipt.status !== '0x1') return undefined
      const created = receipt.logs.find((log) => log.topics[0] === topicHashes['PolicyCreated(uint64,address,uint8)'])
      return created === undefined ? 0n : BigInt(created.topics[1] ?? '0x0')
    },
    create: async (salt, { admin = address, initCalls = [], variant = 0 } = {}) => {
      const token = {
        key: salt,
        what: '',
        variant,
        name: `Token ${salt}`,
        symbol: 'TKN',
        admin,
        initCalls: () => initCalls,
      }
      const args = creationArguments(token, {} as DemoPolicies, 0)
      await send(factoryAddress, encodeFunctionData({ abi: factoryAbi, functionName: 'createB20', args }))
      return tokenAddressOf(variant, address, args[1])
    },
  }
}

async function sendFrom(devnet: Devnet, account: PrivateKeyAccount, to: Address, data: Hex): Promise<Receipt> {
  const nonce = Number(await devnet.request('eth_getTransactionCount', [account.address, 'pending']))
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: devnet.chainId,
    to,
    data,
    nonce,
    gas: 5_000_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
  })
  const hash = await devnet.request('eth_sendRawTransaction', [raw])
  return (await devnet.request('eth_getTransactionReceipt', [hash])) as Receipt
}
