import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import {
  type ChainPort,
  ChainUnreadable,
  createChain,
  createRpc,
  httpEndpoint,
  knownNetworks,
  type Network,
  type Rpc,
  type RpcCall,
  type RpcEndpoint,
  RpcRefusal,
} from './index.ts'
import { type RpcFault, type RpcProxy, startRpcProxy } from './rpc-proxy.fixture.ts'

const chainId = 8453
const base = knownNetworks.find((one) => one.chainId === chainId) as Network
const block = { number: '0x64', hash: `0x${'11'.repeat(32)}`, timestamp: '0x5' }
const answers: Record<string, unknown> = {
  eth_chainId: '0x2105',
  eth_getBlockByNumber: block,
  eth_call: `0x${'7'.padStart(64, '0')}`,
  eth_getCode: '0x60',
  eth_getTransactionReceipt: null,
  eth_getLogs: [],
}

let proxies: RpcProxy[] = []
let rpc: Rpc
beforeEach(async () => {
  proxies = await Promise.all(
    ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map((host) => startRpcProxy(async (method) => answers[method], host)),
  )
  rpc = createRpc(
    proxies.map(({ url }) => httpEndpoint(url)),
    { clock: systemClock, chainId },
  )
})
afterEach(() => Promise.all(proxies.map((proxy) => proxy.close())))

const agreedCall = () => rpc.agreed('eth_call', [{ to: '0x00' }, '0x64'])
const asked = () => proxies.map((proxy) => proxy.methods().filter((method) => method === 'eth_call').length)
const resetCalls = () => {
  for (const proxy of proxies) proxy.resetCalls()
}

const faults: RpcFault[] = [
  { kind: 'hangs' },
  { kind: 'slow', ms: 3_000 },
  { kind: 'lies' },
  { kind: 'rate_limited' },
  { kind: 'wrong_chain' },
  { kind: 'down' },
]

describe.each(faults)('one endpoint of three that $kind', (fault) => {
  test.each([0, 1, 2])(
    'as number %i does not keep the others from answering, and then is asked last',
    async (which) => {
      proxies[which]?.setFault(fault)
      expect(await agreedCall()).toBe(answers['eth_call'])
      if (fault.kind !== 'lies') expect(await rpc.first('eth_call', [{}, 'latest'])).toBe(answers['eth_call'])
      resetCalls()
      for (let read = 0; read < 5; read += 1) expect(await agreedCall()).toBe(answers['eth_call'])
      // A busy machine may be slow enough for a third opinion now and then.
      expect(asked()[which]).toBeLessThan(5)
    },
  )
})

test.each([0, 1])(
  'an answer does not wait for number %i, which hangs: it is there before that call is given up',
  async (which) => {
    proxies[which]?.setFault({ kind: 'hangs' })
    expect(await agreedCall()).toBe(answers['eth_call'])
    // A later answer arrives after the end of a call that was given up would have.
    expect(await agreedCall()).toBe(answers['eth_call'])
    expect(proxies[which]?.hanging()).toBeGreaterThan(0)
  },
)

test('an agreed answer takes two operators, not three calls', async () => {
  // Nobody is late by this clock, however busy the machine is.
  const clock = { ...systemClock, sleep: () => new Promise<void>(() => {}) }
  rpc = createRpc(
    proxies.map(({ url }) => httpEndpoint(url)),
    { clock, chainId },
  )
  await agreedCall()
  resetCalls()
  await agreedCall()
  expect(asked().reduce((sum, count) => sum + count)).toBe(2)
})

test('an endpoint that recovered is asked again after its pause', async () => {
  let nowMs = 0
  // No third opinion, however busy the machine is.
  const clock = { ...systemClock, monotonicMs: () => nowMs, sleep: () => new Promise<void>(() => {}) }
  rpc = createRpc(
    proxies.map(({ url }) => httpEndpoint(url)),
    { clock, chainId },
  )
  proxies[0]?.setFault({ kind: 'rate_limited' })
  await agreedCall()
  await agreedCall()
  proxies[0]?.setFault({ kind: 'none' })
  resetCalls()
  await agreedCall()
  expect(asked()[0]).toBe(0)
  nowMs += 120_000
  proxies[1]?.setFault({ kind: 'down' })
  await agreedCall()
  await agreedCall()
  expect(asked()[0]).toBeGreaterThan(0)
})

test('endpoints that have all been led to another chain decide nothing, though all of them were right before', async () => {
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  for (const count of [3, 1]) {
    const some = proxies.slice(0, count)
    for (const proxy of some) proxy.setFault({ kind: 'none' })
    rpc = createRpc(
      some.map(({ url }) => httpEndpoint(url)),
      { clock, chainId },
    )
    const chain = createChain({ network: base, rpc, clock, checkContractSignature: async () => 'invalid' })
    const [payer, nonce] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(64)}`] as const
    expect(await chain.usdcBalance(payer, 100n)).toBe(7n)
    for (const proxy of some) proxy.setFault({ kind: 'wrong_chain' })
    // No time passed: what turns a buyer away is never younger than what vouches for its chain.
    await expect(chain.usdcBalance(payer, 100n)).rejects.toThrow(ChainUnreadable)
    await expect(chain.authorizationUsed(payer, nonce, 100n)).rejects.toThrow(ChainUnreadable)
    nowMs += 5_000
    await expect(chain.transferLogs(payer, 90n, 100n)).rejects.toThrow(ChainUnreadable)
    await expect(chain.finalizedBlock()).rejects.toThrow(ChainUnreadable)
  }
})

test.each([3, 1])(
  'a payment is not undone on the word of %i endpoints that were led to another chain',
  async (count) => {
    const transaction = `0x${'7'.repeat(64)}` as const
    const expected = {
      payer: `0x${'1'.repeat(40)}`,
      payTo: `0x${'2'.repeat(40)}`,
      amountMicro: 1n,
      nonce: transaction,
    } as const
    const some = proxies.slice(0, count)
    const reads = [
      (chain: ChainPort) => chain.blockHash(100n),
      (chain: ChainPort) => chain.finalizedBlock(),
      (chain: ChainPort) => chain.transferLogs(expected.payer, 90n, 100n),
      async (chain: ChainPort) => {
        const evidence = await chain.settlementByTransaction(transaction, expected)
        if (evidence.status === 'could_not_read') throw new ChainUnreadable(evidence.reason)
      },
    ]
    for (const read of reads) {
      for (const proxy of some) proxy.setFault({ kind: 'none' })
      const clock = { ...systemClock, monotonicMs: () => 0 }
      rpc = createRpc(
        some.map(({ url }) => httpEndpoint(url)),
        { clock, chainId },
      )
      const chain = createChain({
        network: base,
        rpc,
        clock,
        checkContractSignature: async () => 'invalid',
        headAgeMsMax: 0,
      })
      await read(chain)
      for (const proxy of some) proxy.setFault({ kind: 'wrong_chain' })
      // No time passed since they answered for ours.
      await expect(read(chain)).rejects.toThrow(ChainUnreadable)
    }
  },
)

test('a receipt that the endpoints do not agree on says neither that it is there nor that it is gone', async () => {
  const hash = `0x${'7'.repeat(64)}` as const
  const receipt = (blockHash: string) => ({
    status: '0x0',
    transactionHash: hash,
    blockNumber: '0x1',
    blockHash,
    gasUsed: '0x1',
    logs: [],
  })
  const endpoint = (name: string, answer: unknown): RpcEndpoint => ({
    name,
    send: async (calls) => calls.map(() => answer),
  })
  const read = (...given: unknown[]) => {
    const some = createRpc(
      given.map((answer, index) => endpoint(`operator${index}`, answer)),
      { clock: systemClock },
    )
    const chain = createChain({
      network: base,
      rpc: some,
      clock: systemClock,
      checkContractSignature: async () => 'invalid',
    })
    const expected = {
      payer: `0x${'1'.repeat(40)}`,
      payTo: `0x${'2'.repeat(40)}`,
      amountMicro: 1n,
      nonce: hash,
    } as const
    return chain.settlementByTransaction(hash, expected)
  }
  expect(await read(null, null)).toEqual({ status: 'absent' })
  expect(await read(null, receipt('0x1'), receipt('0x2'))).toMatchObject({ status: 'could_not_read' })
})

test('a refusal of an endpoint that was led to another chain says nothing', async () => {
  const refusing = await startRpcProxy(async (method) => {
    if (method === 'eth_call') throw Object.assign(new Error('execution reverted'), { code: 3 })
    return answers[method]
  }, '127.0.0.1')
  try {
    const one = createRpc([httpEndpoint(refusing.url)], { clock: systemClock, chainId })
    await expect(one.agreed('eth_call', [{}, '0x64'])).rejects.toMatchObject({ code: 3 })
    refusing.setFault({ kind: 'wrong_chain' })
    await expect(one.agreed('eth_call', [{}, '0x64'])).rejects.toThrow(/answers for chain/)
  } finally {
    await refusing.close()
  }
})

test('a refusal decides only where enough operators refuse alike', async () => {
  const refusing = await Promise.all(
    ['127.0.0.4', '127.0.0.5'].map((host) =>
      startRpcProxy(async (method) => {
        if (method === 'eth_call') throw Object.assign(new Error('execution reverted'), { code: 3 })
        return answers[method]
      }, host),
    ),
  )
  try {
    const [one, two] = refusing.map(({ url }) => httpEndpoint(url))
    const ask = (endpoints: RpcEndpoint[]) =>
      createRpc(endpoints, { clock: systemClock, chainId }).agreed('eth_call', [{}, '0x64'])
    await expect(ask([one as RpcEndpoint, two as RpcEndpoint])).rejects.toMatchObject({ code: 3 })
    const well = httpEndpoint((proxies[0] as RpcProxy).url)
    expect(await ask([one as RpcEndpoint, well])).toBeUndefined()
    proxies[0]?.setFault({ kind: 'down' })
    const alone = await ask([one as RpcEndpoint, well]).catch((error: unknown) => error)
    expect([alone instanceof ChainUnreadable, alone instanceof RpcRefusal]).toEqual([true, false])
  } finally {
    await Promise.all(refusing.map((proxy) => proxy.close()))
  }
})

test('two URLs of one operator have one vote', async () => {
  const second = await startRpcProxy(async (method) => (method === 'eth_call' ? '0x01' : answers[method]), '127.0.0.1')
  const third = await startRpcProxy(async (method) => (method === 'eth_call' ? '0x01' : answers[method]), '127.0.0.1')
  try {
    const given = [second, third, proxies[1] as RpcProxy].map(({ url }) => httpEndpoint(url))
    const two = createRpc(given, { clock: systemClock, chainId })
    expect(two.quorum).toBe(2)
    expect(await two.agreed('eth_call', [{}, '0x64'])).toBeUndefined()
    proxies[1]?.setFault({ kind: 'down' })
    expect(await two.agreed('eth_call', [{}, '0x64'])).toBeUndefined()
    expect(createRpc(given.slice(0, 2), { clock: systemClock, chainId }).quorum).toBe(1)
  } finally {
    await Promise.all([second.close(), third.close()])
  }
})

test('a second URL of an operator answers where the first does not', async () => {
  const second = await startRpcProxy(async (method) => answers[method], '127.0.0.1')
  try {
    proxies[0]?.setFault({ kind: 'down' })
    const given = [proxies[0] as RpcProxy, second, proxies[1] as RpcProxy].map(({ url }) => httpEndpoint(url))
    expect(await createRpc(given, { clock: systemClock, chainId }).agreed('eth_call', [{}, '0x64'])).toBe(
      answers['eth_call'],
    )
  } finally {
    await second.close()
  }
})

test('the asset is checked by enough endpoints, so that one that is wrong keeps no node from starting', async () => {
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  rpc = createRpc(
    proxies.map(({ url }) => httpEndpoint(url)),
    { clock, chainId },
  )
  const verify = () =>
    createChain({ network: base, rpc, clock, checkContractSignature: async () => 'invalid' }).verifyAsset()
  const healthy = await verify()
  proxies[0]?.setFault({ kind: 'wrong_chain' })
  expect(await verify()).toEqual(healthy)
  for (const proxy of proxies) proxy.setFault({ kind: 'wrong_chain' })
  nowMs += 5_000
  expect(await verify()).toEqual([expect.stringMatching(/^eip155:8453: its RPC URLs cannot be used: .*for chain/)])
  for (const proxy of proxies) proxy.setFault({ kind: 'down' })
  expect(await verify()).toEqual([expect.stringMatching(/^eip155:8453: its RPC URLs cannot be used: /)])
  proxies[0]?.setFault({ kind: 'none' })
  expect(await verify()).toEqual([expect.stringMatching(/too few of them answer. 2 operators/)])
})

test('a check of the asset leaves no read behind, so that the next one meets nothing of the last', async () => {
  let open = 0
  const agreed: Rpc['agreed'] = async (method) => {
    open += 1
    if (method !== 'eth_chainId') await new Promise((resolve) => setImmediate(resolve))
    open -= 1
    throw new ChainUnreadable(`${method}: not answered`)
  }
  await createChain({
    network: base,
    rpc: { ...rpc, agreed },
    clock: systemClock,
    checkContractSignature: async () => 'invalid',
  }).verifyAsset()
  expect(open).toBe(0)
})

/** Three that answer at once, and what the clock was asked for. */
function played() {
  let nowMs = 0
  const [sleeps, sent] = [[] as number[], [[], [], []] as string[][]]
  const clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    sleep: (ms: number) => {
      sleeps.push(ms)
      return new Promise<void>(() => {})
    },
  }
  const endpoints = sent.map((methods, index) => ({
    name: `rpc${index}.example`,
    send: async (calls: RpcCall[]) => {
      methods.push(...calls.map(({ method }) => method))
      return calls.map(({ method }) => answers[method])
    },
  })) as RpcEndpoint[]
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { rpc: createRpc(endpoints, { clock, chainId }), sleeps, sent, pass }
}

test('a search of logs takes its time: no third provider is asked as early as for a balance', async () => {
  const { rpc: reads, sleeps } = played()
  for (const _ of [1, 2, 3]) await reads.agreed('eth_call', [{}, '0x64'])
  const [defaultMs] = sleeps.splice(0).slice(-1)
  await reads.agreedBatch([
    { method: 'eth_getLogs', params: [{}] },
    { method: 'eth_getBlockByNumber', params: ['0x1', false] },
  ])
  expect(sleeps[0]).toBeGreaterThan((defaultMs ?? 0) * 10)
})

test('after a pause only providers that are not asked anyway are probed', async () => {
  const { rpc: reads, sent, pass } = played()
  await reads.agreed('eth_call', [{}, '0x64'])
  for (const methods of sent) methods.length = 0
  pass(120_000)
  await reads.agreed('eth_call', [{}, '0x64'])
  const proven = ['eth_call', 'eth_chainId']
  expect([...sent].sort((a, b) => b.length - a.length)).toEqual([proven, proven, ['eth_chainId']])
})
