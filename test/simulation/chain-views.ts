import { type RpcCall, type RpcEndpoint, RpcRefusal } from '../../packages/till/src/chain/index.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import type { FaultPlan, ViewFault } from './fault-plan.ts'
import type { VirtualTime } from './virtual-time.ts'

const zero = `0x${'0'.repeat(64)}`
const authorizationState = '0xe94a0102'
const blockPosition: Record<string, number> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getBlockByNumber: 0,
}

/** What depends on blocks alone and not on what waits for one. */
const ofBlocks = new Set([
  ...['eth_call', 'eth_getBlockByNumber', 'eth_getLogs', 'eth_getTransactionReceipt', 'eth_getBalance'],
  ...['eth_getTransactionCount', 'eth_blockNumber', 'eth_chainId', 'eth_getCode'],
])

/** The same chain for those who only look: at one moment, on one head, a question is put to it once, no matter who asks. */
export function askedOnce({ request, control }: Devnet, time: VirtualTime): Devnet['request'] {
  let moment = ''
  const answers = new Map<string, Promise<unknown>>()
  return (method, params = []) => {
    const question = JSON.stringify([method, params])
    if (!ofBlocks.has(method) || question.includes('"pending"')) return request(method, params)
    const now = `${time.nowMs()} ${control.head().hash}`
    if (now !== moment) answers.clear()
    moment = now
    const answer = answers.get(question) ?? request(method, params)
    answers.set(question, answer)
    return answer
  }
}

/**
 * The chain as one operator's endpoint shows it: late, mute, or untrue. The others of the same chain tell the truth
 * unless a step altered them too; never more than one of three is altered at a time.
 */
export function createView(name: string, devnet: Devnet, request: Devnet['request'], plan: FaultPlan): RpcEndpoint {
  const ask = (call: RpcCall) =>
    request(call.method, [...call.params]).catch((error: { code?: number; message?: string; data?: unknown }) => {
      throw new RpcRefusal(error.code ?? -32603, error.message ?? 'failed', error.data)
    })
  return {
    name,
    send: async (calls) => {
      const fault = plan.views.get(name)
      if (!fault) return Promise.all(calls.map(ask))
      if (fault.kind === 'silent') throw new Error('no answer')
      return Promise.all(calls.map((call) => answerFaulty(call, fault, devnet, ask)))
    },
  }
}

async function answerFaulty(
  call: RpcCall,
  fault: ViewFault,
  devnet: Devnet,
  ask: (call: RpcCall) => Promise<unknown>,
): Promise<unknown> {
  if (fault.kind === 'lags') return lagging(call, Math.max(0, devnet.control.head().number - fault.blocks), ask)
  if (fault.kind === 'drops_sends') return call.method === 'eth_sendRawTransaction' ? hashOnly(call) : ask(call)
  if (fault.kind === 'denies') return denying(call, ask)
  return inventing(call, fault.blocks, ask)
}

/** As it was some blocks ago. */
async function lagging(call: RpcCall, head: number, ask: (call: RpcCall) => Promise<unknown>): Promise<unknown> {
  const tag = `0x${head.toString(16)}`
  const old = (given: unknown) =>
    typeof given === 'string' && given.startsWith('0x') && Number(given) <= head ? given : tag
  if (call.method === 'eth_blockNumber') return tag
  if (call.method === 'eth_getTransactionReceipt') {
    const receipt = (await ask(call)) as { blockNumber: string } | null
    return receipt && Number(receipt.blockNumber) <= head ? receipt : null
  }
  if (call.method === 'eth_getLogs') {
    const [filter] = call.params as [{ fromBlock?: string; toBlock?: string }]
    if (filter.fromBlock !== undefined && Number(filter.fromBlock) > head) return []
    return ask({ ...call, params: [{ ...filter, toBlock: old(filter.toBlock) }] })
  }
  const position = blockPosition[call.method]
  if (position === undefined) return ask(call)
  const given = call.params[position]
  if (typeof given === 'string' && given.startsWith('0x') && Number(given) > head)
    return call.method === 'eth_getBlockByNumber' ? null : Promise.reject(new RpcRefusal(-32000, 'header not found'))
  if (given === 'finalized' || given === 'safe') return ask(call)
  return ask({ ...call, params: call.params.with(position, old(given)) })
}

/** Knows of no receipt, no log and no spent authorization. */
async function denying(call: RpcCall, ask: (call: RpcCall) => Promise<unknown>): Promise<unknown> {
  if (call.method === 'eth_getTransactionReceipt') return null
  if (call.method === 'eth_getLogs') return []
  if (call.method === 'eth_call' && dataOf(call).startsWith(authorizationState)) return zero
  return ask(call)
}

/** Has seen more blocks than there are, all of them final, and calls every authorization spent. */
async function inventing(call: RpcCall, blocks: number, ask: (call: RpcCall) => Promise<unknown>): Promise<unknown> {
  if (call.method === 'eth_call' && dataOf(call).startsWith(authorizationState)) return zero.replace(/0$/, '1')
  const [tag] = call.params
  if (call.method !== 'eth_getBlockByNumber' || (tag !== 'latest' && tag !== 'finalized')) return ask(call)
  const block = (await ask({ ...call, params: ['latest', false] })) as { number: string; timestamp: string }
  return {
    ...block,
    number: `0x${(Number(block.number) + blocks).toString(16)}`,
    timestamp: `0x${(Number(block.timestamp) + blocks * 600).toString(16)}`,
  }
}

const dataOf = (call: RpcCall) => (call.params[0] as { data?: string }).data ?? ''

/** Accepts a transaction and drops it. */
async function hashOnly(call: RpcCall): Promise<string> {
  const { keccak256 } = await import('viem')
  return keccak256(call.params[0] as `0x${string}`)
}
