import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { httpEndpoint, type RpcEndpoint, RpcRefusal } from '@assay/till/chain'
import { systemClock } from '@assay/till/kernel/clock'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles, selectors, tokenAbi, tokenSlots } from './abi/b20.ts'
import { type FaultChain, openFaultChain } from './fault-chain.fixture.ts'
import type { Faults } from './faulty-endpoint.fixture.ts'
import { newPace } from './read/read-logs.ts'
import { createVetter } from './read/vet-endpoints.ts'
import { endpointOf } from './reader.fixture.ts'

let chain: FaultChain['chain']
let issuer: FaultChain['issuer']
let guard: FaultChain['guard']
let honest: FaultChain['honest']
let mintable: FaultChain['mintable']
let locked: FaultChain['locked']
let faulty: FaultChain['faulty']
let evaluated: FaultChain['evaluated']
let verdict: FaultChain['verdict']
let codes: FaultChain['codes']
const init = (functionName: string, ...args: unknown[]): Hex =>
  encodeFunctionData({ abi: tokenAbi, functionName, args })

beforeAll(async () => {
  ;({ chain, issuer, guard, honest, mintable, locked, faulty, evaluated, verdict, codes } = await openFaultChain())
})
afterAll(() => chain.stop())

describe('providers', () => {
  const lie: Faults = {
    view: (call, result) =>
      call.data.startsWith(selectors['hasRole(bytes32,address)'])
        ? { success: true, data: `0x${'0'.repeat(64)}` }
        : result,
  }

  test('R15: one liar of three is outvoted; of two it makes the fact unknown; alone the logs betray it', async () => {
    expect(await verdict([honest, faulty(lie, 'liar'), endpointOf(chain, 'third')])).toBe('PARTIALLY_CONTROLLED')
    expect(await verdict([honest, faulty(lie, 'liar')])).toBe('UNKNOWN')
    expect(await codes([honest, faulty(lie, 'liar')])).toContain('role_unread')
    expect(await codes([faulty(lie, 'liar')])).toContain('contradiction_holder_in_logs_only')
  })

  test('R15: a made-up count of admins is caught by the confirmed ones, and a missing admin is not nobody', async () => {
    const live = await issuer.create('two admins')
    const counts = (count: number) =>
      faulty({
        answer: (call) =>
          call.method === 'eth_getStorageAt' && call.params[1] === tokenSlots.adminCount
            ? `0x${count.toString(16).padStart(64, '0')}`
            : undefined,
      })
    expect(await verdict([counts(0)], live)).toBe('ISSUER_CONTROLLED')
    expect(await codes([counts(0)], live)).toContain('admin_count_integrity')
    expect(await codes([counts(1)], locked)).toContain('admin_missing')
    expect(await verdict([counts(1)], locked)).toBe('UNKNOWN')
  })

  test('R20, R19: a failed leg or a 429 half way is unknown, never clean', async () => {
    const leg = faulty({
      view: (call, result) =>
        call.data.startsWith(selectors['policyId(bytes32)']) ? { success: true, data: '0x' } : result,
    })
    expect(await verdict([leg], locked)).toBe('UNKNOWN')
    for (const after of [1, 2, 3, 4, 5, 6, 7]) {
      let sent = 0
      const limited: RpcEndpoint = {
        name: 'limited',
        send: (calls) => (++sent > after ? Promise.reject(new Error('HTTP 429')) : honest.send(calls)),
      }
      const outcome = await verdict([limited], locked).catch(() => 'unreadable')
      // A reading that was over before the limit struck is simply right.
      expect(sent > after ? ['UNKNOWN', 'unreadable'] : ['LOCKED']).toContain(outcome)
    }
  })

  test('R30: a batch with a missing entry is a failed batch', async () => {
    const short: RpcEndpoint = {
      name: 'short',
      send: async (calls) => (await honest.send(calls)).slice(calls.length > 1 ? 1 : 0),
    }
    await expect(evaluated([short])).rejects.toMatchObject({ name: 'Unreadable' })
  })

  test('R30: over HTTP, answers are matched by id: shuffled ones read alike, a wrong id is a failed leg', async () => {
    type Entry = { id: number; method: string; params: unknown[] }
    const proxy = (alter: (answers: object[]) => object[]) =>
      createServer(async (request, response) => {
        const asked = (await json(request)) as Entry | Entry[]
        const answers = await Promise.all(
          [asked].flat().map(({ id, method, params }) =>
            chain.request(method, params).then(
              (result) => ({ jsonrpc: '2.0', id, result }),
              ({ code, message, data }) => ({ jsonrpc: '2.0', id, error: { code, message, data } }),
            ),
          ),
        )
        response.end(JSON.stringify(Array.isArray(asked) ? alter(answers) : answers[0]))
      })
    const over = async <T>(alter: (answers: object[]) => object[], use: (endpoint: RpcEndpoint) => Promise<T>) => {
      const server = proxy(alter).listen(0, '127.0.0.1')
      await once(server, 'listening')
      try {
        return await use(httpEndpoint(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
      } finally {
        server.closeAllConnections()
        server.close()
      }
    }
    expect(
      await over(
        (answers) => answers.reverse(),
        (endpoint) => verdict([endpoint]),
      ),
    ).toBe('PARTIALLY_CONTROLLED')
    const wrongId = (answers: object[]) => answers.map((answer, i) => (i === 0 ? { ...answer, id: -1 } : answer))
    await over(wrongId, (endpoint) => expect(verdict([endpoint])).rejects.toMatchObject({ name: 'Unreadable' }))
  })

  test('R27: revert data that a provider strips leaves the fork unknown', async () => {
    await chain.request('devnet_setB20Fork', ['beryl'])
    try {
      expect((await evaluated([honest], locked)).evaluation.complete).toBe(true)
      const stripped = faulty({ view: (_call, result) => (result.success ? result : { success: false, data: '0x' }) })
      expect(await codes([stripped], locked)).toContain('fork_unknown')
      expect(await verdict([stripped], locked)).toBe('UNKNOWN')
    } finally {
      await chain.request('devnet_setB20Fork', ['denim'])
    }
  })
})

describe('logs', () => {
  test('R10, R18: a range that cannot be read, or a list cut off, is never complete', async () => {
    const fails = faulty({
      before: (call) => {
        if (call.method === 'eth_getLogs') throw new Error('timeout')
      },
    })
    expect(await verdict([fails])).toBe('UNKNOWN')
    const cut = faulty({
      answer: (call, answer) => (call.method === 'eth_getLogs' ? (answer as unknown[]).slice(0, 1) : undefined),
    })
    expect(await verdict([cut, honest])).toBe('UNKNOWN')
    expect(await codes([cut])).not.toEqual([])
    const capped = faulty({
      answer: (call, answer) =>
        call.method === 'eth_getLogs' ? Array.from({ length: 1_000 }, () => (answer as unknown[])[0]) : undefined,
    })
    expect(await verdict([capped])).toBe('UNKNOWN')
    const empty = faulty({ answer: (call) => (call.method === 'eth_getLogs' ? [] : undefined) })
    expect(await codes([empty])).toContain('creation_not_found')
  })

  test('R18: a list cut off at any length without a word is noticed, even from a single provider', async () => {
    const token = await issuer.create('cut off')
    for (const role of [roles.PAUSE_ROLE, roles.METADATA_ROLE, roles.MINT_ROLE])
      await issuer.call(token, 'grantRole', role, guard.address)
    for (const length of [0, 1, 2, 3]) {
      const cut = faulty({
        answer: (call, answer) =>
          call.method === 'eth_getLogs' && Array.isArray((call.params[0] as { topics: unknown[] }).topics[0])
            ? (answer as unknown[]).slice(0, length)
            : undefined,
      })
      const { complete, powers } = (await evaluated([cut], token)).evaluation
      // Asked for fewer blocks, it may leave nothing out: then the answer is whole, and right.
      expect([length > 0 && complete, powers.mint.now]).toEqual([complete, complete ? 'armed' : 'unknown'])
    }
  })

  test('R18: logs of the creation that the search leaves out are missed, even by a single provider', async () => {
    const token = await issuer.create('born with a minter', {
      admin: zeroAddress,
      initCalls: [init('grantRole', roles.MINT_ROLE, guard.address)],
    })
    const forgetful = faulty({
      answer: (call, answer) =>
        call.method === 'eth_getLogs' && (call.params[0] as { address: string }).address === token
          ? (answer as unknown[]).slice(0, 0)
          : undefined,
    })
    expect(await verdict([forgetful], token)).toBe('UNKNOWN')
  })

  test.each([1, 2, 3, 7])(
    'R17, R31: a provider that takes %i blocks at a time gives the same answer, borders included',
    async (limit) => {
      const token = await issuer.create(`bordered ${limit}`)
      for (const role of [
        roles.MINT_ROLE,
        roles.PAUSE_ROLE,
        roles.METADATA_ROLE,
        roles.OPERATOR_ROLE,
        roles.BURN_ROLE,
        roles.UNPAUSE_ROLE,
      ])
        await issuer.call(token, 'grantRole', role, guard.address)
      const narrow = faulty({
        before: (call) => {
          if (call.method !== 'eth_getLogs') return
          const { fromBlock, toBlock } = call.params[0] as { fromBlock: Hex; toBlock: Hex }
          if (Number(toBlock) - Number(fromBlock) + 1 > limit) throw new RpcRefusal(-32005, 'block range too wide')
        },
      })
      const { evaluation, facts } = await evaluated([narrow], token, { pace: newPace() })
      expect(evaluation.missing).toEqual([])
      expect(facts.events.filter((event) => event.kind === 'role_granted')).toHaveLength(7)
    },
  )

  test('R17: a provider that refuses wide ranges by HTTP status alone is asked for less, too', async () => {
    const narrow = faulty({
      before: (call) => {
        if (call.method !== 'eth_getLogs') return
        const { fromBlock, toBlock } = call.params[0] as { fromBlock: Hex; toBlock: Hex }
        if (Number(toBlock) - Number(fromBlock) + 1 > 3) throw new RpcRefusal(-32600, 'HTTP 400')
      },
    })
    expect(await codes([narrow])).toEqual([])
  })

  test('R29: repeated and shuffled logs read alike; a removed one restarts the reading', async () => {
    const shuffled = faulty({
      answer: (call, answer) =>
        call.method === 'eth_getLogs' ? [...(answer as unknown[]), ...(answer as unknown[])].reverse() : undefined,
    })
    expect(await verdict([shuffled])).toBe('PARTIALLY_CONTROLLED')
    let times = 0
    const removing = faulty({
      answer: (call, answer) =>
        call.method === 'eth_getLogs' && times++ === 0
          ? (answer as object[]).map((log) => ({ ...log, removed: true }))
          : undefined,
    })
    expect(await verdict([removing])).toBe('PARTIALLY_CONTROLLED')
  })
})

describe('operators', () => {
  test('R16: endpoints of one operator have one vote together, so they cannot outvote another', async () => {
    const vetted = (endpoints: RpcEndpoint[]) =>
      createVetter({
        endpoints,
        chainId: 8453,
        genesisHash: async () =>
          ((await chain.request('eth_getBlockByNumber', ['0x0', false])) as { hash: string }).hash,
        clock: systemClock,
      })
    const lie: Faults = {
      view: (call, result) =>
        call.data.startsWith(selectors['hasRole(bytes32,address)'])
          ? { success: true, data: `0x${'0'.repeat(64)}` }
          : result,
    }
    const vetter = vetted([faulty(lie, 'one.example'), faulty(lie, 'ONE.example'), endpointOf(chain, 'two.example')])
    const panel = await vetter.panel()
    expect([panel.quorum, panel.endpoints.map(({ name }) => name)]).toEqual([2, ['one.example', 'two.example']])
    expect(vetter.vettings()[1]?.fault).toContain('same operator')
    expect(await verdict([], mintable, { panel: vetter.panel })).toBe('UNKNOWN')
    expect((await vetted([honest, honest]).panel()).quorum).toBe(1)
  })
})
