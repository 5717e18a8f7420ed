import { checksumAddress, parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import type { TransactionSerializable, TypedDataDefinition } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { DemoAccount } from './accounts.ts'
import { quantity } from './edr.ts'
import { feeLevel } from './fees.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>
type Fields = Record<string, unknown>
export type WalletMethods = Record<string, (params: readonly unknown[]) => Promise<unknown>>

/** The demo accounts are unlocked, so that tools which expect a signing node can use the chain as it is. */
export function createWalletMethods(chainId: number, accounts: readonly DemoAccount[], ask: Ask): WalletMethods {
  const unlocked = (from: unknown) => unlock(accounts, from)
  const signMessage = (from: unknown, message: unknown): Promise<Hex> => {
    if (!isHex(message)) throw new RpcError(rpcCodes.invalidParams, 'the message to sign is hex text')
    return unlocked(from).signMessage({ message: { raw: message } })
  }
  const addresses = accounts.map(({ address }) => checksumAddress(address))
  const signTransaction = async (params: readonly unknown[]): Promise<Hex> => {
    const fields = (params[0] ?? {}) as Fields
    return unlocked(fields.from).signTransaction(await completeTransaction(chainId, fields, ask))
  }
  return {
    eth_accounts: async () => addresses,
    eth_requestAccounts: async () => addresses,
    eth_signTransaction: signTransaction,
    eth_sendTransaction: async (params) => ask('eth_sendRawTransaction', [await signTransaction(params)]),
    eth_sign: async ([from, message]) => signMessage(from, message),
    personal_sign: async ([message, from]) => signMessage(from, message),
    eth_signTypedData_v4: async ([from, typed]) => {
      const definition = (typeof typed === 'string' ? JSON.parse(typed) : typed) as TypedDataDefinition
      return unlocked(from).signTypedData(definition)
    },
  }
}

const accountsByAddress = new Map<string, PrivateKeyAccount>()

function unlock(accounts: readonly DemoAccount[], from: unknown): PrivateKeyAccount {
  const address = parseAddress(from)
  const known = accounts.find((account) => account.address === address)
  if (known === undefined) throw new RpcError(rpcCodes.server, `unknown account ${String(from).slice(0, 64)}`)
  const account = accountsByAddress.get(known.address) ?? privateKeyToAccount(known.privateKey)
  accountsByAddress.set(known.address, account)
  return account
}

async function completeTransaction(chainId: number, fields: Fields, ask: Ask): Promise<TransactionSerializable> {
  const fees = feeLevel(chainId)
  const data = fields.input ?? fields.data
  const { from, to, value } = fields
  const gas = fields.gas ?? (await ask('eth_estimateGas', [{ from, to, value, data }]))
  const nonce = fields.nonce ?? (await ask('eth_getTransactionCount', [from, 'pending']))
  const common = {
    chainId,
    gas: BigInt(gas as Hex),
    nonce: quantity(nonce),
    value: BigInt((value ?? '0x0') as Hex),
    ...(isHex(to) ? { to } : {}),
    ...(isHex(data) ? { data } : {}),
  }
  if (fields.gasPrice !== undefined) return { ...common, type: 'legacy', gasPrice: BigInt(fields.gasPrice as Hex) }
  const tip = BigInt((fields.maxPriorityFeePerGas ?? fees.priorityFeeWei) as Hex)
  const cap = BigInt((fields.maxFeePerGas ?? fees.baseFeeWei * 2n + tip) as Hex)
  return { ...common, type: 'eip1559', maxFeePerGas: cap, maxPriorityFeePerGas: tip }
}
