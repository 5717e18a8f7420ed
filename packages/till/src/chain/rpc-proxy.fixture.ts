import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onLoopback } from '../kernel/on-loopback.fixture.ts'

export type ProxiedCall = { id: number; method: string; params: unknown[] }
type Answer = { result: unknown } | { error: { code: number; message: string } }

/** What a provider does wrong. */
export type RpcFault =
  | { kind: 'none' }
  /** Takes requests and never answers. */
  | { kind: 'hangs' }
  | { kind: 'slow'; ms: number }
  | { kind: 'rate_limited'; retryAfterSeconds?: number }
  | { kind: 'wrong_chain' }
  /** Zero balances, no receipts, no logs, its own blocks. */
  | { kind: 'lies' }
  | { kind: 'down' }

export type RpcProxy = {
  url: string
  /** Methods called since the last `resetCalls()`. */
  methods(): readonly string[]
  resetCalls(): void
  setFault(fault: RpcFault): void
  /** Ranges of eth_getLogs wider than this are refused, with this HTTP status and a JSON-RPC error in the body. */
  limitLogs(blocks: number, status: number): void
  /** Requests that wait for an answer which does not come. */
  hanging(): number
  close(): Promise<void>
}

/** A JSON-RPC provider over HTTP on its own loopback address: hosts tell operators apart. */
export async function startRpcProxy(
  request: (method: string, params: unknown[]) => Promise<unknown>,
  host: string,
): Promise<RpcProxy> {
  const state: ProxyState = {
    fault: { kind: 'none' },
    methods: [],
    hanging: new Set(),
    logs: undefined,
    request,
  }
  const server = createServer((incoming, response) => {
    serve(state, incoming, response).catch(() => response.destroy())
  })
  const { url, close } = await onLoopback(server, host)
  return {
    url,
    methods: () => state.methods,
    resetCalls: () => {
      state.methods = []
    },
    setFault: (fault) => {
      state.fault = fault
      for (const response of state.hanging) response.destroy()
      state.hanging.clear()
    },
    limitLogs: (blocks, status) => {
      state.logs = { blocks, status }
    },
    hanging: () => state.hanging.size,
    close,
  }
}

type ProxyState = {
  fault: RpcFault
  methods: string[]
  hanging: Set<ServerResponse>
  logs: { blocks: number; status: number } | undefined
  request(method: string, params: unknown[]): Promise<unknown>
}

async function serve(state: ProxyState, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const message = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ProxiedCall | ProxiedCall[]
  const calls = Array.isArray(message) ? message : [message]
  state.methods.push(...calls.map(({ method }) => method))
  const { fault } = state
  if (fault.kind === 'hangs') {
    state.hanging.add(response)
    // The caller gave up.
    response.on('close', () => state.hanging.delete(response))
    return
  }
  if (fault.kind === 'down') return void response.destroy()
  if (fault.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.ms))
  if (fault.kind === 'rate_limited') {
    const after = fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) }
    return void response.writeHead(429, after).end('too many requests')
  }
  const answers = await Promise.all(
    calls.map(async (call) => ({ jsonrpc: '2.0', id: call.id, ...(await one(state, call)) })),
  )
  const refused = state.logs && calls.some((call) => isTooWide(state, call))
  response
    .writeHead(refused ? (state.logs?.status ?? 400) : 200, { 'content-type': 'application/json' })
    .end(JSON.stringify(Array.isArray(message) ? answers : answers[0]))
}

function isTooWide({ logs }: ProxyState, { method, params }: ProxiedCall): boolean {
  if (method !== 'eth_getLogs' || !logs) return false
  const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
  return Number(toBlock) - Number(fromBlock) + 1 > logs.blocks
}

async function one(state: ProxyState, call: ProxiedCall): Promise<Answer> {
  if (state.fault.kind === 'wrong_chain' && call.method === 'eth_chainId') return { result: '0x2105999' }
  if (isTooWide(state, call))
    return { error: { code: -32600, message: `eth_getLogs is limited to ${state.logs?.blocks} blocks` } }
  try {
    const result = await state.request(call.method, call.params)
    return { result: state.fault.kind === 'lies' || state.fault.kind === 'wrong_chain' ? lie(call, result) : result }
  } catch (error) {
    const { code = -32603, message = 'failed' } = error as { code?: number; message?: string }
    return { error: { code, message } }
  }
}

const otherHash = `0x${'ab'.repeat(32)}`

function lie({ method }: ProxiedCall, truth: unknown): unknown {
  switch (method) {
    case 'eth_call':
    case 'eth_getBalance':
      return `0x${'0'.repeat(64)}`
    case 'eth_getCode':
      return '0x'
    case 'eth_getTransactionCount':
      return '0x3e7'
    case 'eth_getTransactionReceipt':
    case 'eth_getTransactionByHash':
      return null
    case 'eth_getLogs':
      return []
    case 'eth_sendRawTransaction':
      return otherHash
    case 'eth_getBlockByNumber':
      return truth === null
        ? null
        : { ...(truth as object), hash: otherHash, number: '0x7fffffff', timestamp: '0x7fffffff' }
    default:
      return truth
  }
}
