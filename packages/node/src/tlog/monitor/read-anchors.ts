import { isRecord, parseJson } from '@assay/protocol/json-object'
import { decodeFunctionData, keccak256, numberToHex, parseAbi, toHex } from 'viem'
import { logAnchorContract } from '../anchor-contract.ts'
import type { MonitorHttp } from './types.ts'

const anchorAbi = parseAbi([
  'function anchor(string origin, uint64 size, bytes32 root, bytes note)',
  'event Anchored(bytes32 indexed origin, uint64 indexed size, bytes32 root, address sender)',
])
const anchoredTopic = keccak256(toHex('Anchored(bytes32,uint64,bytes32,address)'))

const blocksPerCall = 10_000
const callsMax = 5
const eventsMax = 64
const answerBytesMax = 4_194_304

export type AnchoredNote = { transaction: string; size: number; note: string }
export type AnchorsRead = { block: number | null; notes: AnchoredNote[]; problem?: string }

/**
 * The heads of a log that were put on chain since `fromBlock`. Anybody may call the contract, so the event alone says
 * nothing: the note in the call data does, for the log signed it.
 */
export async function readAnchors(
  http: MonitorHttp,
  rpc: string,
  origin: string,
  fromBlock: number | null,
): Promise<AnchorsRead> {
  try {
    const newest = Number(await call(http, rpc, 'eth_blockNumber', []))
    if (!Number.isSafeInteger(newest)) throw new Error('no block number')
    let from = fromBlock === null ? Math.max(0, newest - blocksPerCall * callsMax) : fromBlock + 1
    const notes: AnchoredNote[] = []
    for (let calls = 0; calls < callsMax && from <= newest && notes.length < eventsMax; calls += 1) {
      const until = Math.min(newest, from + blocksPerCall - 1)
      const filter = {
        address: logAnchorContract.address,
        topics: [anchoredTopic, keccak256(toHex(origin))],
        fromBlock: numberToHex(from),
        toBlock: numberToHex(until),
      }
      for (const event of listOf(await call(http, rpc, 'eth_getLogs', [filter])).slice(0, eventsMax)) {
        const transaction = isRecord(event) ? String(event.transactionHash) : ''
        const read = await readNote(http, rpc, transaction, origin)
        if (read) notes.push(read)
      }
      from = until + 1
    }
    return { block: from - 1, notes }
  } catch (error) {
    return { block: fromBlock, notes: [], problem: error instanceof Error ? error.message : 'no answer' }
  }
}

/** Undefined when there is no such call in a block. */
export async function readNote(
  http: MonitorHttp,
  rpc: string,
  transaction: string,
  origin: string,
): Promise<AnchoredNote | undefined> {
  if (!/^0x[0-9a-f]{64}$/.test(transaction)) return undefined
  const found = await call(http, rpc, 'eth_getTransactionByHash', [transaction])
  if (!isRecord(found) || typeof found.blockNumber !== 'string') return undefined
  if (String(found.to).toLowerCase() !== logAnchorContract.address) return undefined
  return decodeAnchorCall(String(found.input), transaction, origin)
}

export function decodeAnchorCall(input: string, transaction: string, origin: string): AnchoredNote | undefined {
  try {
    const { args } = decodeFunctionData({ abi: anchorAbi, data: input as `0x${string}` })
    const [named, size, , note] = args as [string, bigint, string, `0x${string}`]
    if (named !== origin || size > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
    return { transaction, size: Number(size), note: Buffer.from(note.slice(2), 'hex').toString('utf8') }
  } catch {
    return undefined
  }
}

async function call(http: MonitorHttp, rpc: string, method: string, params: unknown[]): Promise<unknown> {
  const answer = await http.postJson(rpc, { jsonrpc: '2.0', id: 1, method, params }, answerBytesMax)
  if (!answer.ok) throw new Error(`${method}: ${answer.reason}`)
  const value = parseJson(answer.bytes.toString('utf8'))
  if (!isRecord(value) || !('result' in value)) throw new Error(`${method}: no result`)
  return value.result
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
