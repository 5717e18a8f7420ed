import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { authorizationTypes, type TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import {
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { onTestFinished } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import {
  contractArtifacts,
  type Devnet,
  type DevnetOptions,
  demoAccount,
  devnetTransport,
  startDevnet,
} from './index.ts'

/** A chain for one test, stopped when the test ends. */
export async function startTestChain(options: Partial<DevnetOptions> = {}): Promise<Devnet> {
  const devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog, ...options })
  onTestFinished(() => devnet.stop())
  return devnet
}

export const usdcAbi = contractArtifacts.testUsdc.abi
export const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)
export const settler = privateKeyToAccount(demoAccount('settler').privateKey)
export const operator = demoAccount('operator').address

export function viemChain(devnet: Pick<Devnet, 'chainId'>, url = 'http://127.0.0.1:1'): Chain {
  return defineChain({
    id: devnet.chainId,
    name: 'embedded',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
}

export function clients(devnet: Devnet) {
  const transport = devnetTransport(devnet)
  const chain = viemChain(devnet)
  return {
    reader: createPublicClient({ chain, transport, cacheTime: 0, pollingInterval: 20 }),
    wallet: createWalletClient({ chain, transport, account: settler }),
    tester: createTestClient({ chain, transport, mode: 'hardhat' }),
  }
}

export function usdcDomain(devnet: Pick<Devnet, 'chainId' | 'usdc'>) {
  return { name: 'USD Coin', version: '2', chainId: devnet.chainId, verifyingContract: devnet.usdc }
}

let nonces = 0

export function authorization(changes: Partial<TransferAuthorization> = {}): TransferAuthorization {
  const now = BigInt(Math.floor(systemClock.nowMs() / 1000))
  nonces += 1
  return {
    from: demoAccount('buyer').address,
    to: operator,
    value: 1_000n,
    validAfter: now - 600n,
    validBefore: now + 600n,
    nonce: toHex(nonces, { size: 32 }),
    ...changes,
  }
}

export function signAuthorization(
  devnet: Pick<Devnet, 'chainId' | 'usdc'>,
  message: TransferAuthorization,
): Promise<Hex> {
  return buyer.signTypedData({
    domain: usdcDomain(devnet),
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  })
}

export function transferCall(message: TransferAuthorization, signature: Hex): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = message
  return encodeFunctionData({
    abi: usdcAbi,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  })
}

/** A transaction of the settler that is signed but not sent. */
export function signSettlerTransaction(
  devnet: Pick<Devnet, 'chainId'>,
  fields: { nonce: number; to?: Address; data?: Hex; value?: bigint; gas?: bigint; feeWei?: bigint },
): Promise<Hex> {
  return settler.signTransaction({
    type: 'eip1559',
    chainId: devnet.chainId,
    to: fields.to ?? operator,
    nonce: fields.nonce,
    gas: fields.gas ?? 150_000n,
    value: fields.value ?? 0n,
    maxFeePerGas: fields.feeWei ?? 100_000_000_000n,
    maxPriorityFeePerGas: fields.feeWei ?? 1_000_000n,
    ...(fields.data === undefined ? {} : { data: fields.data }),
  })
}

export async function send(devnet: Devnet, raw: Hex): Promise<Hex> {
  return (await devnet.request('eth_sendRawTransaction', [raw])) as Hex
}

export async function receiptOf(devnet: Devnet, hash: Hex) {
  return (await devnet.request('eth_getTransactionReceipt', [hash])) as {
    status: Hex
    blockNumber: Hex
    blockHash: Hex
  } | null
}

export async function usdcBalance(devnet: Devnet, account: Address): Promise<bigint> {
  const { reader } = clients(devnet)
  const args = { address: devnet.usdc, abi: usdcAbi, functionName: 'balanceOf', args: [account] } as const
  return (await reader.readContract(args)) as bigint
}
