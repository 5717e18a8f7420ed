import { parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import type { ChainExtension, RpcRequest } from '@assay/till/devnet'
import { parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'
import { factoryAddress } from '../abi/b20.ts'
import { hasTokenPrefix } from '../token-address.ts'
import { type B20Fork, installB20, missingStub, placeStub, setB20Fork, tokenCode } from './b20-state.ts'

/** Base and its test network; Polygon has no B20. */
const chainsWithB20: ReadonlySet<number> = new Set([8453, 84532])

/** B20 on an embedded chain: the stand-in's contracts, and answers that the real chain gives without any. */
export const extendWithB20: ChainExtension = async (request, chainId) => {
  if (!chainsWithB20.has(chainId)) return request
  await installB20(request, chainId)
  return async (method, params = []) => {
    const address = method === 'eth_getCode' ? parseAddress(params[0]) : undefined
    if (address !== undefined && hasTokenPrefix(address)) return tokenCode(request, address, params[1] ?? 'latest')
    if (method === 'devnet_setB20Fork') return setB20Fork(request, String(params[0]) as B20Fork)
    if (method === 'eth_call' || method === 'eth_estimateGas') return withStubs(request, method, params)
    if (method === 'eth_sendRawTransaction') await prepareCreation(request, params[0])
    return request(method, params)
  }
}

// A batch of creations in one transaction is answered one missing stub at a time.
const stubsMax = 16

/**
 * Runs a simulated call. Where it fails because a token has no stub yet, the stub is put there and the call repeated:
 * an address that was prepared in vain still looks empty to everybody.
 */
async function withStubs(request: RpcRequest, method: string, params: readonly unknown[]): Promise<unknown> {
  for (let placed = 0; ; placed += 1) {
    try {
      return await request(method, params)
    } catch (error) {
      const token = missingStub(error)
      if (token === undefined || placed === stubsMax) throw error
      await placeStub(request, token)
    }
  }
}

const factoryDigits = factoryAddress.slice(2)

/** Simulates a transaction that names the factory before it is taken, so that the tokens it creates have their stubs. */
async function prepareCreation(request: RpcRequest, raw: unknown): Promise<void> {
  if (!isHex(raw) || !raw.toLowerCase().includes(factoryDigits)) return
  try {
    const transaction = parseTransaction(raw as TransactionSerialized)
    const from = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized })
    const call = { from, to: transaction.to, data: transaction.data, value: quantity(transaction.value) }
    await withStubs(request, 'eth_call', [call, 'latest'])
  } catch {
    // What fails here fails in the block too, and the caller learns of it there.
  }
}

function quantity(value: bigint | undefined): Hex {
  return `0x${(value ?? 0n).toString(16)}`
}
