import { decodeFunctionData, encodeAbiParameters, keccak256 } from 'viem'
import { type Address, parseAddress } from '../../kernel/address.ts'
import { type Hex, isHex } from '../../kernel/bytes.ts'
import { adminRole, factoryAbi, factoryAddress, tokenAbi } from '../abi/b20.ts'
import type { Genesis } from '../facts.ts'
import type { LogSource } from './collect-logs.ts'
import type { ControlEvent, RawLog } from './decode-events.ts'
import { agree, askAll } from './panel.ts'

type Transaction = { from: Address; to: Address | undefined; input: Hex }

/** Who made the token, through what, and what it did in the same breath. */
export async function readGenesis(
  source: LogSource,
  token: Address,
  creation: RawLog,
  events: readonly ControlEvent[],
): Promise<Genesis> {
  const transaction = await readTransaction(source, creation.transaction)
  const firstGrant = events.find(
    (event) =>
      event.transaction === creation.transaction &&
      event.kind === 'role_granted' &&
      event.role === adminRole &&
      event.sender === factoryAddress,
  )
  const common = {
    blockNumber: creation.blockNumber,
    transaction: creation.transaction,
    firstAdmin: firstGrant?.kind === 'role_granted' ? firstGrant.account : undefined,
  }
  if (transaction === undefined) return { ...common, via: 'unknown', initCalls: [] }
  const parties = { sender: transaction.from, ...(transaction.to === undefined ? {} : { to: transaction.to }) }
  const call = transaction.to === factoryAddress ? decodeCreate(transaction.input) : undefined
  if (call === undefined || tokenAddressOf(call.variant, transaction.from, call.salt) !== token)
    return { ...common, ...parties, via: 'router', initCalls: [] }
  return { ...common, ...parties, via: 'direct', salt: call.salt, initCalls: call.initCalls.map(describeCall) }
}

async function readTransaction({ panel, meter }: LogSource, hash: Hex): Promise<Transaction | undefined> {
  meter.logs += 1
  const replies = await askAll(panel, [{ method: 'eth_getTransactionByHash', params: [hash] }])
  const parsed = replies.map(([reply]) => (reply?.ok ? parseTransaction(reply.value) : undefined))
  const outcome = agree(panel, parsed, ({ from, to, input }) => `${from} ${to} ${input}`)
  return outcome.status === 'agreed' ? outcome.value : undefined
}

function parseTransaction(value: unknown): Transaction | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { from, to, input } = value as Record<string, unknown>
  const sender = parseAddress(from)
  return sender === undefined || !isHex(input) ? undefined : { from: sender, to: parseAddress(to), input }
}

function decodeCreate(input: Hex): { variant: number; salt: Hex; initCalls: readonly Hex[] } | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi: factoryAbi, data: input })
    if (functionName !== 'createB20' || args === undefined) return undefined
    const [variant, salt, , initCalls] = args as [number, Hex, Hex, Hex[]]
    return { variant, salt, initCalls }
  } catch {
    return undefined
  }
}

/** The address the factory gives for a creator and a salt. */
export function tokenAddressOf(variant: number, sender: Address, salt: Hex): Address {
  const hash = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [sender, salt]))
  return `0xb2${'00'.repeat(9)}${variant.toString(16).padStart(2, '0')}${hash.slice(2, 20)}` as Address
}

const shownCallsTextMax = 200

function describeCall(data: Hex): Genesis['initCalls'][number] {
  const selector = data.slice(0, 10) as Hex
  try {
    const { functionName, args } = decodeFunctionData({ abi: tokenAbi, data })
    const texts = (args ?? []).map((arg) => String(arg).slice(0, shownCallsTextMax))
    return { selector, name: functionName, arguments: texts }
  } catch {
    return { selector, name: 'unknown', arguments: [] }
  }
}
