import { type Hex, isHex } from '@assay/protocol/bytes'
import { parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'
import { b20FactoryAddress, hasB20, missingStub, stubChange } from './b20.ts'
import type { ChainState } from './chain-state.ts'
import { changeState } from './change-state.ts'

type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

// A batch of creations in one transaction is answered one missing stub at a time.
const stubsMax = 16

/**
 * Runs a simulated call. Where it fails because a token has no stub yet, the stub is put there and the call repeated:
 * an address that was prepared in vain still looks empty to everybody.
 */
export async function withStubs<T>(state: ChainState, work: () => Promise<T>): Promise<T> {
  for (let placed = 0; ; placed += 1) {
    try {
      return await work()
    } catch (error) {
      const token = hasB20(state.chainId) ? missingStub(error) : undefined
      if (token === undefined || placed === stubsMax) throw error
      const { method, params } = stubChange(token)
      await changeState(state, method, params)
    }
  }
}

const factoryDigits = b20FactoryAddress.slice(2)

/** Simulates a transaction that names the factory before it is taken, so that the tokens it creates have their stubs. */
export async function prepareCreation(state: ChainState, raw: unknown, ask: Ask): Promise<void> {
  if (!hasB20(state.chainId) || !isHex(raw) || !raw.toLowerCase().includes(factoryDigits)) return
  try {
    const transaction = parseTransaction(raw as TransactionSerialized)
    const from = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized })
    const call = { from, to: transaction.to, data: transaction.data, value: quantity(transaction.value) }
    await ask('eth_call', [call, 'latest'])
  } catch {
    // What fails here fails in the block too, and the caller learns of it there.
  }
}

function quantity(value: bigint | undefined): Hex {
  return `0x${(value ?? 0n).toString(16)}`
}
