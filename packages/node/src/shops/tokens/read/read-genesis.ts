import { type Address, parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import {
  type AbiFunction,
  decodeFunctionData,
  encodeAbiParameters,
  getAbiItem,
  keccak256,
  toFunctionSelector,
} from 'viem'
import { adminRole, factoryAbi, factoryAddress, tokenAbi } from '../abi/b20.ts'
import type { Genesis } from '../facts.ts'
import type { LogSource } from './collect-logs.ts'
import { type ControlEvent, controlTopics, type RawLog } from './decode-events.ts'
import { agree, askAll } from './panel.ts'
import { parseLog } from './read-logs.ts'

type Transaction = { from: Address; to: Address | undefined; input: Hex }

/** `missingLogs`: the receipt of the creation holds control logs that the search for logs did not give. */
export type GenesisRead = { genesis: Genesis; missingLogs: boolean | undefined }

/** Who made the token, through what, and what it did in the same transaction. */
export function readGenesis(
  { transaction, receiptLogs }: CreationRead,
  token: Address,
  creation: RawLog,
  events: readonly ControlEvent[],
): GenesisRead {
  const known = new Set(events.map((event) => `${event.transaction}:${event.logIndex}`))
  const missingLogs = receiptLogs
    ?.filter((log) => log.address === token && controlTopics.includes(log.topics[0] as Hex))
    .some((log) => !known.has(`${log.transaction}:${log.logIndex}`))
  return { genesis: genesisFrom(token, creation, events, transaction), missingLogs }
}

function genesisFrom(
  token: Address,
  creation: RawLog,
  events: readonly ControlEvent[],
  transaction: Transaction | undefined,
): Genesis {
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

export type CreationRead = { transaction: Transaction | undefined; receiptLogs: RawLog[] | undefined }

/** The receipt comes by another way than the search for logs: a provider that drops logs there is caught here. */
export async function readTransaction({ panel, meter }: LogSource, hash: Hex): Promise<CreationRead> {
  meter.logs += 1
  const replies = await askAll(panel, [
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ])
  const parsed = replies.map(([reply]) => (reply?.ok ? parseTransaction(reply.value) : undefined))
  const transaction = agree(panel, parsed, ({ from, to, input }) => `${from} ${to} ${input}`)
  const lists = replies.map(([, reply]) => (reply?.ok ? parseReceipt(reply.value) : undefined))
  const logs = agree(panel, lists, (list) =>
    list.map((log) => `${log.logIndex}${log.topics.join()}${log.data}`).join('|'),
  )
  return {
    transaction: transaction.status === 'agreed' ? transaction.value : undefined,
    receiptLogs: logs.status === 'agreed' ? logs.value : undefined,
  }
}

function parseReceipt(value: unknown): RawLog[] | undefined {
  const list = (value as { logs?: unknown } | null)?.logs
  if (!Array.isArray(list)) return undefined
  const logs = list.map(parseLog)
  return logs.every((log) => log !== undefined) ? logs : undefined
}

function parseTransaction(value: unknown): Transaction | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { from, to, input } = value as Record<string, unknown>
  const sender = parseAddress(from)
  return sender === undefined || !isHex(input) ? undefined : { from: sender, to: parseAddress(to), input }
}

const createSelector = toFunctionSelector(getAbiItem({ abi: factoryAbi, name: 'createB20' }) as AbiFunction)

function decodeCreate(input: Hex): { variant: number; salt: Hex; initCalls: readonly Hex[] } | undefined {
  if (!input.startsWith(createSelector)) return undefined
  try {
    const { args } = decodeFunctionData({ abi: factoryAbi, data: input })
    if (args === undefined) return undefined
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
