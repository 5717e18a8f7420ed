import { type Address, zeroAddress } from '@assay/protocol/address'
import { type RpcEndpoint, RpcRefusal } from '@assay/till/chain'
import { systemClock } from '@assay/till/kernel/clock'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles, selectors } from './abi/b20.ts'
import { createChecker } from './checker.ts'
import { type FaultChain, openFaultChain } from './fault-chain.fixture.ts'
import { faultyEndpoint } from './faulty-endpoint.fixture.ts'
import { createActor } from './issuer.fixture.ts'
import { readToken } from './read/read-token.ts'
import { createVetter } from './read/vet-endpoints.ts'
import { endpointOf, panelOf, readerOver } from './reader.fixture.ts'
import { validUntil } from './show.ts'
import { startTokenChain } from './token-chain.fixture.ts'

let chain: FaultChain['chain']
let issuer: FaultChain['issuer']
let honest: FaultChain['honest']
let mintable: FaultChain['mintable']
let faulty: FaultChain['faulty']
let evaluated: FaultChain['evaluated']
let verdict: FaultChain['verdict']

beforeAll(async () => {
  ;({ chain, issuer, honest, mintable, faulty, evaluated, verdict } = await openFaultChain())
})
afterAll(() => chain.stop())

describe('what is a token', () => {
  test('R1: an address with the right prefix that was never created is missing, not a token', async () => {
    const never = `0xb200000000000000000000${'9'.repeat(18)}` as Address
    expect((await readToken(readerOver([honest]), never)).status).toBe('not_created')
  })

  test('R1: a creation that was only estimated leaves nothing behind', async () => {
    const { creationArguments } = await import('./demo/demo-tokens.ts')
    const { factoryAbi, factoryAddress } = await import('./abi/b20.ts')
    const { tokenAddressOf } = await import('./read/read-genesis.ts')
    const plan = {
      key: 'estimated',
      what: '',
      variant: 0 as const,
      name: 'E',
      symbol: 'E',
      admin: zeroAddress,
      initCalls: () => [],
    }
    const args = creationArguments(plan, {} as never, 0)
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'createB20', args })
    await chain.request('eth_estimateGas', [{ from: issuer.address, to: factoryAddress, data }])
    const token = tokenAddressOf(0, issuer.address, args[1])
    expect(await chain.request('eth_getCode', [token, 'latest'])).toBe('0x')
    expect(await chain.request('eth_call', [{ to: token, data: selectors['name()'] }, 'latest'])).toBe('0x')
    expect((await readToken(readerOver([honest]), token)).status).toBe('not_created')
  })

  test('R2: a node without the fork, where everything succeeds with nothing, is unreadable and never a missing token', async () => {
    const empty = faulty({ view: () => ({ success: true, data: '0x' }) })
    await expect(evaluated([empty])).rejects.toMatchObject({ code: 'factory_unread' })
  })

  test('R1: marker and factory that contradict each other are an integrity fault, not a 404', async () => {
    const torn = faulty({ answer: (call) => (call.method === 'eth_getCode' ? '0x' : undefined) })
    await expect(evaluated([torn])).rejects.toMatchObject({ code: 'integrity' })
    const delegated = faulty({
      answer: (call) => (call.method === 'eth_getCode' ? `0xef0100${'11'.repeat(20)}` : undefined),
    })
    await expect(evaluated([delegated])).rejects.toMatchObject({ code: 'integrity' })
  })

  test('R22: an endpoint on another chain, or one that does not answer, has no vote', async () => {
    const panel = async (endpoints: RpcEndpoint[]) =>
      (
        await createVetter({
          endpoints,
          chainId: 8453,
          genesisHash: async () =>
            ((await chain.request('eth_getBlockByNumber', ['0x0', false])) as { hash: string }).hash,
          clock: systemClock,
        }).panel()
      ).endpoints.map(({ name }) => name)
    const wrongChain = faulty({ answer: (call) => (call.method === 'eth_chainId' ? '0x14a34' : undefined) }, 'sepolia')
    const wrongGenesis = faulty(
      { answer: (call) => (call.params[0] === '0x0' ? { hash: `0x${'1'.repeat(64)}` } : undefined) },
      'other genesis',
    )
    // R25: it answers for a block hash that no chain has.
    const ignoring = faulty({}, 'ignores hashes')
    const ignores: RpcEndpoint = {
      name: 'ignores hashes',
      send: (calls) =>
        ignoring.send(
          calls.map((call) => ({
            ...call,
            params: call.params.map((one) =>
              typeof one === 'object' && one !== null && 'blockHash' in one ? 'latest' : one,
            ),
          })),
        ),
    }
    const dead: RpcEndpoint = { name: 'dead', send: () => Promise.reject(new Error('connection refused')) }
    expect(await panel([honest, wrongChain, wrongGenesis, ignores, dead])).toEqual(['embedded'])
    const none = readerOver([], { panel: async () => ({ ...panelOf(), quorum: 2 }) })
    await expect(readToken(none, mintable)).rejects.toMatchObject({ code: 'too_few_endpoints' })
  })
})

describe('blocks', () => {
  test('R13: a reorg between reads restarts once, then is unreadable', async () => {
    let rechecks = 0
    const moved = (times: number) =>
      faulty({
        answer: (call, answer) => {
          const byNumber = call.method === 'eth_getBlockByNumber' && String(call.params[0]).startsWith('0x')
          if (!byNumber || rechecks++ >= times) return undefined
          return { ...(answer as object), hash: `0x${'d'.repeat(64)}` }
        },
      })
    expect(await verdict([moved(1)])).toBe('PARTIALLY_CONTROLLED')
    rechecks = 0
    await expect(evaluated([moved(2)])).rejects.toMatchObject({ code: 'reorg' })
  })

  test('R13: a reorg right after the pin, before anything is read, reads once more', async () => {
    const own = await startTokenChain()
    try {
      const actor = await createActor(own)
      const token = await actor.create('reorged at once', { admin: zeroAddress })
      await own.control.mine(3)
      let reorged = false
      const inner = endpointOf(own)
      const reorging: RpcEndpoint = {
        name: 'reorging',
        send: async (calls) => {
          const answer = await inner.send(calls)
          if (!reorged && calls.some(({ params }) => params[0] === 'latest')) {
            reorged = true
            await own.control.reorg(2)
          }
          return answer
        },
      }
      const reading = await readToken(readerOver([reorging]), token)
      expect(reading.status === 'read' && reading.facts.block.hash).toBe(own.control.head().hash)
    } finally {
      await own.stop()
    }
  })

  test('R13: a real reorg during the reading is noticed', async () => {
    const own = await startTokenChain()
    try {
      const actor = await createActor(own)
      const token = await actor.create('reorged', { admin: zeroAddress })
      await own.control.mine(3)
      let views = 0
      const endpoint = faultyEndpoint(endpointOf(own), {
        before: (call) => {
          if (call.method === 'eth_call') views += 1
        },
      })
      const reorging: RpcEndpoint = {
        name: 'reorging',
        send: async (calls) => {
          const answer = await endpoint.send(calls)
          if (views === 1 && calls.some((call) => call.method === 'eth_call')) await own.control.reorg(2)
          return answer
        },
      }
      const reading = await readToken(readerOver([reorging]), token)
      const head = own.control.head()
      expect(reading.status === 'read' && reading.facts.block.hash).toBe(head.hash)
    } finally {
      await own.stop()
    }
  })

  test('R14: one lagging node of three changes nothing; a chain that has stopped is unreadable', async () => {
    const lagging = faulty(
      {
        answer: (call) => (call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest' ? null : undefined),
        before: (call) => {
          if (call.params.some((one) => typeof one === 'object' && one !== null && 'blockHash' in one))
            throw new RpcRefusal(-32001, 'header not found')
        },
      },
      'lagging',
    )
    expect(await verdict([lagging, honest, endpointOf(chain, 'third')])).toBe('PARTIALLY_CONTROLLED')
    // R33: the same answer if it is our own clock that is wrong.
    const ahead = { ...systemClock, nowMs: () => systemClock.nowMs() + 600_000 }
    await expect(evaluated([honest], mintable, { clock: ahead })).rejects.toMatchObject({ code: 'stale_head' })
    const behind = { ...systemClock, nowMs: () => systemClock.nowMs() - 600_000 }
    await expect(evaluated([honest], mintable, { clock: behind })).rejects.toMatchObject({ code: 'clock_behind' })
  })

  test('R26: pruned state is not false and not a missing token', async () => {
    const pruned = faulty({
      before: (call) => {
        if (call.method === 'eth_call') throw new RpcRefusal(-32000, 'missing trie node')
      },
    })
    await expect(evaluated([pruned])).rejects.toMatchObject({ code: 'factory_unread' })
    expect(await verdict([pruned, honest, endpointOf(chain, 'third')])).toBe('PARTIALLY_CONTROLLED')
  })
})

describe('time', () => {
  test('R21: an answer past its own date is read again, however young it is', async () => {
    const token = await issuer.create('maturing')
    await issuer.call(token, 'grantRole', roles.OPERATOR_ROLE, issuer.address)
    const at = chain.control.head().timestamp + 10
    await issuer.call(token, 'updateUIMultiplier', 2n * 10n ** 18n, BigInt(at))
    let nowMs = (at - 4) * 1000
    const clock = { ...systemClock, nowMs: () => nowMs }
    const checker = createChecker(readerOver([honest], { clock, headAgeSecondsMax: 3_600 }))
    const first = await checker.check(token)
    expect(validUntil(first.facts)).toBe(at)
    nowMs += 1_500
    await chain.control.mine(1)
    expect((await checker.check(token)).facts.block.hash).toBe(first.facts.block.hash)
    // Four seconds old, so it would be given again if it did not say itself that it holds no longer.
    nowMs = at * 1000
    expect((await checker.check(token)).facts.block.hash).toBe(chain.control.head().hash)
  })

  test('R21: a cached answer is used for seconds, and a request for a fresh one gets it at once', async () => {
    const token = await issuer.create('soon paused')
    await issuer.call(token, 'grantRole', roles.PAUSE_ROLE, issuer.address)
    let nowMs = systemClock.nowMs()
    const clock = { ...systemClock, nowMs: () => nowMs }
    const checker = createChecker(readerOver([honest], { clock, headAgeSecondsMax: 3_600 }))
    const paused = async (fresh = false) => (await checker.check(token, { fresh })).facts.paused
    expect(await paused()).toEqual({ known: true, value: [] })
    await issuer.call(token, 'pause', [0])
    nowMs += 1_001
    expect(await paused(true)).toEqual({ known: true, value: [0] })
    await issuer.call(token, 'grantRole', roles.UNPAUSE_ROLE, issuer.address)
    await issuer.call(token, 'unpause', [0])
    nowMs += 5_001
    expect(await paused()).toEqual({ known: true, value: [] })
  })

  test('R23: nothing is read at pending, and every view names the one block by its hash', async () => {
    const asked: { method: string; at: unknown }[] = []
    const watching = faulty({
      before: ({ method, params }) => {
        if (['eth_call', 'eth_getCode', 'eth_getStorageAt', 'eth_getProof'].includes(method))
          asked.push({ method, at: params.at(-1) })
        expect(JSON.stringify(params)).not.toContain('pending')
      },
    })
    const { facts } = await evaluated([watching])
    expect(asked.length).toBeGreaterThan(5)
    for (const { at } of asked) expect(at).toEqual({ blockHash: facts.block.hash, requireCanonical: true })
  })
})
