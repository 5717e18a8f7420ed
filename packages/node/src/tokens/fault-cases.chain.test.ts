import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RpcEndpoint, RpcRefusal } from '../chain/index.ts'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import { type Address, zeroAddress } from '../kernel/address.ts'
import type { Hex } from '../kernel/bytes.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { roles, scopes, selectors, tokenAbi, tokenSlots } from './abi/b20.ts'
import { type Bends, bending } from './bending.fixture.ts'
import { checkAnswer } from './check-answer.ts'
import { type Actor, createActor } from './issuer.fixture.ts'
import { judge } from './judge/judge.ts'
import { newPace } from './read/read-logs.ts'
import { type ReaderDeps, readToken } from './read/read-token.ts'
import { createVetter } from './read/vet-endpoints.ts'
import { endpointOf, panelOf, readerOver } from './reader.fixture.ts'
import { buildReport } from './report/build-report.ts'
import { renderHtml } from './report/render-html.ts'
import { renderMarkdown } from './report/render-markdown.ts'
import { show, validUntil } from './show.ts'
import { viewWallet } from './wallet-view.ts'

let chain: Devnet
let issuer: Actor
let guard: Actor
let honest: RpcEndpoint
/** No admin, one minter: any power that gets lost makes it look locked. */
let mintable: Address
let locked: Address
const init = (functionName: string, ...args: unknown[]): Hex =>
  encodeFunctionData({ abi: tokenAbi, functionName, args })

beforeAll(async () => {
  chain = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
  issuer = await createActor(chain)
  guard = await createActor(chain, 'guard')
  honest = endpointOf(chain)
  mintable = await issuer.create('mintable')
  await issuer.call(mintable, 'grantRole', roles.MINT_ROLE, guard.address)
  await issuer.call(mintable, 'renounceLastAdmin')
  locked = await issuer.create('locked', { admin: zeroAddress })
})
afterAll(() => chain.stop())

async function judged(endpoints: readonly RpcEndpoint[], token = mintable, changes: Partial<ReaderDeps> = {}) {
  const reading = await readToken(readerOver(endpoints, changes), token)
  if (reading.status !== 'read') throw new Error(reading.status)
  return { ...reading, judgement: judge(reading.facts) }
}
const verdict = async (endpoints: readonly RpcEndpoint[], token = mintable, changes: Partial<ReaderDeps> = {}) =>
  (await judged(endpoints, token, changes)).judgement.verdict
const bent = (bends: Bends, name?: string) => bending(endpointOf(chain), bends, name)
const codes = async (endpoints: readonly RpcEndpoint[], token = mintable) =>
  (await judged(endpoints, token)).judgement.missing.map(({ code }) => code)

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
    const empty = bent({ view: () => ({ success: true, data: '0x' }) })
    await expect(judged([empty])).rejects.toMatchObject({ code: 'factory_unread' })
  })

  test('R1: marker and factory that contradict each other are an integrity fault, not a 404', async () => {
    const torn = bent({ answer: (call) => (call.method === 'eth_getCode' ? '0x' : undefined) })
    await expect(judged([torn])).rejects.toMatchObject({ code: 'integrity' })
    const delegated = bent({
      answer: (call) => (call.method === 'eth_getCode' ? `0xef0100${'11'.repeat(20)}` : undefined),
    })
    await expect(judged([delegated])).rejects.toMatchObject({ code: 'integrity' })
  })

  test('R22: an endpoint on another chain, or one that does not answer, has no voice', async () => {
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
    const wrongChain = bent({ answer: (call) => (call.method === 'eth_chainId' ? '0x14a34' : undefined) }, 'sepolia')
    const wrongGenesis = bent(
      { answer: (call) => (call.params[0] === '0x0' ? { hash: `0x${'1'.repeat(64)}` } : undefined) },
      'other genesis',
    )
    // R25: it answers for a block hash that no chain has.
    const ignoring = bent({}, 'ignores hashes')
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
      bent({
        answer: (call, answer) => {
          const byNumber = call.method === 'eth_getBlockByNumber' && String(call.params[0]).startsWith('0x')
          if (!byNumber || rechecks++ >= times) return undefined
          return { ...(answer as object), hash: `0x${'d'.repeat(64)}` }
        },
      })
    expect(await verdict([moved(1)])).toBe('PARTIALLY_CONTROLLED')
    rechecks = 0
    await expect(judged([moved(2)])).rejects.toMatchObject({ code: 'reorg' })
  })

  test('R13: a real reorg during the reading is noticed', async () => {
    const own = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
    try {
      const actor = await createActor(own)
      const token = await actor.create('reorged', { admin: zeroAddress })
      await own.control.mine(3)
      let views = 0
      const endpoint = bending(endpointOf(own), {
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

  test('R14: one lagging node of three changes nothing; a chain that stands still is unreadable', async () => {
    const lagging = bent(
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
    await expect(judged([honest], mintable, { clock: ahead })).rejects.toMatchObject({ code: 'stale_head' })
  })

  test('R26: pruned state is not false and not a missing token', async () => {
    const pruned = bent({
      before: (call) => {
        if (call.method === 'eth_call') throw new RpcRefusal(-32000, 'missing trie node')
      },
    })
    await expect(judged([pruned])).rejects.toMatchObject({ code: 'factory_unread' })
    expect(await verdict([pruned, honest, endpointOf(chain, 'third')])).toBe('PARTIALLY_CONTROLLED')
  })
})

describe('providers', () => {
  const lie: Bends = {
    view: (call, result) =>
      call.data.startsWith(selectors['hasRole(bytes32,address)'])
        ? { success: true, data: `0x${'0'.repeat(64)}` }
        : result,
  }

  test('R15: one liar of three is outvoted; of two it makes the fact unknown; alone the logs betray it', async () => {
    expect(await verdict([honest, bent(lie, 'liar'), endpointOf(chain, 'third')])).toBe('PARTIALLY_CONTROLLED')
    expect(await verdict([honest, bent(lie, 'liar')])).toBe('UNKNOWN')
    expect(await codes([honest, bent(lie, 'liar')])).toContain('role_unread')
    expect(await codes([bent(lie, 'liar')])).toContain('contradiction_holder_in_logs_only')
  })

  test('R15: a made-up count of admins is caught by the confirmed ones, and a missing admin is not nobody', async () => {
    const live = await issuer.create('two admins')
    const counts = (count: number) =>
      bent({
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
    const leg = bent({
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
    await expect(judged([short])).rejects.toMatchObject({ name: 'Unreadable' })
  })

  test('R27: revert data that a provider strips leaves the fork unknown', async () => {
    await chain.control.setB20Fork('beryl')
    try {
      expect((await judged([honest], locked)).judgement.complete).toBe(true)
      const stripped = bent({ view: (_call, result) => (result.success ? result : { success: false, data: '0x' }) })
      expect(await codes([stripped], locked)).toContain('fork_unknown')
      expect(await verdict([stripped], locked)).toBe('UNKNOWN')
    } finally {
      await chain.control.setB20Fork('denim')
    }
  })
})

describe('logs', () => {
  test('R10, R18: a range that cannot be read, or a list cut off, is never complete', async () => {
    const fails = bent({
      before: (call) => {
        if (call.method === 'eth_getLogs') throw new Error('timeout')
      },
    })
    expect(await verdict([fails])).toBe('UNKNOWN')
    const cut = bent({
      answer: (call, answer) => (call.method === 'eth_getLogs' ? (answer as unknown[]).slice(0, 1) : undefined),
    })
    expect(await verdict([cut, honest])).toBe('UNKNOWN')
    expect(await codes([cut])).not.toEqual([])
    const capped = bent({
      answer: (call, answer) =>
        call.method === 'eth_getLogs' ? Array.from({ length: 1_000 }, () => (answer as unknown[])[0]) : undefined,
    })
    expect(await verdict([capped])).toBe('UNKNOWN')
    const empty = bent({ answer: (call) => (call.method === 'eth_getLogs' ? [] : undefined) })
    expect(await codes([empty])).toContain('creation_not_found')
  })

  test('R18: logs of the creation that the search leaves out are missed, even by a single provider', async () => {
    const token = await issuer.create('born with a minter', {
      admin: zeroAddress,
      initCalls: [init('grantRole', roles.MINT_ROLE, guard.address)],
    })
    const forgetful = bent({
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
      const narrow = bent({
        before: (call) => {
          if (call.method !== 'eth_getLogs') return
          const { fromBlock, toBlock } = call.params[0] as { fromBlock: Hex; toBlock: Hex }
          if (Number(toBlock) - Number(fromBlock) + 1 > limit) throw new RpcRefusal(-32005, 'block range too wide')
        },
      })
      const { judgement, facts } = await judged([narrow], token, { pace: newPace() })
      expect(judgement.missing).toEqual([])
      expect(facts.events.filter((event) => event.kind === 'role_granted')).toHaveLength(7)
    },
  )

  test('R29: repeated and shuffled logs read alike; a removed one restarts the reading', async () => {
    const shuffled = bent({
      answer: (call, answer) =>
        call.method === 'eth_getLogs' ? [...(answer as unknown[]), ...(answer as unknown[])].reverse() : undefined,
    })
    expect(await verdict([shuffled])).toBe('PARTIALLY_CONTROLLED')
    let times = 0
    const removing = bent({
      answer: (call, answer) =>
        call.method === 'eth_getLogs' && times++ === 0
          ? (answer as object[]).map((log) => ({ ...log, removed: true }))
          : undefined,
    })
    expect(await verdict([removing])).toBe('PARTIALLY_CONTROLLED')
  })
})

describe('meaning', () => {
  test('R3: a bound policy that does not exist is no permission', async () => {
    const token = await issuer.create('ghost policy')
    const id = (await issuer.registry('createPolicy', issuer.address, 0)) as bigint
    await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, id)
    await issuer.call(token, 'renounceLastAdmin')
    const ghost = bent({
      view: (call, result) =>
        call.data.startsWith(selectors['policyExists(uint64)'])
          ? { success: true, data: `0x${'0'.repeat(64)}` }
          : result,
    })
    expect(await codes([ghost], token)).toContain('policy_missing')
    expect(await verdict([ghost], token)).toBe('UNKNOWN')
  })

  test('R6: an executor allowlist stops holders from Denim on, and not before', async () => {
    const token = await issuer.create('executors')
    const id = (await issuer.registry('createPolicyWithAccounts', issuer.address, 1, [issuer.address])) as bigint
    await issuer.call(token, 'updatePolicy', scopes.TRANSFER_EXECUTOR_POLICY, id)
    const send = async () => {
      const checked = await judged([honest], token)
      return (await viewWallet(panelOf(honest), readerOver([]).multicall3, checked, guard.address)).send.answer
    }
    expect(await send()).toBe('no')
    await chain.control.setB20Fork('cobalt')
    try {
      expect(await send()).toBe('yes')
    } finally {
      await chain.control.setB20Fork('denim')
    }
  })

  test('R7: a list changed by its own admin shows, and so does a staged hand-over', async () => {
    const token = await issuer.create('shared list')
    const id = (await guard.registry('createPolicy', guard.address, 0)) as bigint
    await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, id)
    await guard.registry('updateBlocklist', id, true, [issuer.address])
    await guard.registry('stageUpdateAdmin', id, issuer.address)
    const { facts, judgement } = await judged([honest], token)
    expect(facts.policies.get(id)?.members).toEqual([issuer.address])
    expect(judgement.flags.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['freeze_by_third_party', 'policy_admin_pending']),
    )
    const wallet = await viewWallet(
      panelOf(honest),
      readerOver([]).multicall3,
      { ...(await judged([honest], token)) },
      issuer.address,
    )
    expect([wallet.send.answer, wallet.be_frozen.answer]).toEqual(['no', 'yes'])
  })

  test('R8: a scheduled multiplier ends the validity of the answer', async () => {
    const token = await issuer.create('split')
    await issuer.call(token, 'grantRole', roles.OPERATOR_ROLE, issuer.address)
    const at = chain.control.head().timestamp + 20
    expect(await issuer.call(token, 'updateUIMultiplier', 2n * 10n ** 18n, BigInt(at))).toBe(true)
    const { facts } = await judged([honest], token)
    expect(facts.multiplier).toMatchObject({ known: true, value: { pending: { effectiveAt: at } } })
    expect(validUntil(facts)).toBe(at)
  })

  test('R9: renounced, while an earlier grant still works', async () => {
    const { judgement } = await judged([honest])
    expect(judgement.powers.mint).toMatchObject({ now: 'armed', who: [{ account: guard.address }] })
    expect(judgement.flags.map(({ code }) => code)).toContain('minter_irrevocable')
  })

  test('R28: ids that do not fit a JavaScript number survive end to end', async () => {
    const token = await issuer.create('big ids')
    const id = (await issuer.registry('createPolicyWithAccounts', issuer.address, 1, [guard.address])) as bigint
    const inverted = id | (1n << 63n)
    expect(await issuer.call(token, 'updatePolicy', scopes.TRANSFER_SENDER_POLICY, inverted)).toBe(true)
    expect(await issuer.call(token, 'updatePolicy', scopes.TRANSFER_RECEIVER_POLICY, 72057594037927937n)).toBe(true)
    const checked = await judged([honest], token)
    const { facts, judgement } = checked
    expect(facts.scopes.TRANSFER_SENDER_POLICY).toEqual({ known: true, value: inverted })
    expect(judgement.flags.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['inverted_policy', 'transfers_blocked_for_all']),
    )
    const wallet = await viewWallet(panelOf(honest), readerOver([]).multicall3, checked, guard.address)
    expect([wallet.send.answer, wallet.receive.answer]).toEqual(['no', 'no'])
  })

  test('R24: an unknown variant is no verdict and no 404', async () => {
    const later = `0xb200000000000000000007${'5'.repeat(18)}` as Address
    const alive = bent({
      view: (call, result) =>
        call.data.startsWith(selectors['isB20Initialized(address)'])
          ? { success: true, data: `0x${'1'.padStart(64, '0')}` }
          : result,
      answer: (call) => (call.method === 'eth_getCode' ? '0xef' : undefined),
    })
    expect(await verdict([alive], later)).toBe('UNKNOWN')
  })

  test('R11, R32: hostile names are cut, cleaned and escaped everywhere', async () => {
    const token = await issuer.create('hostile')
    await issuer.call(token, 'grantRole', roles.METADATA_ROLE, issuer.address)
    await issuer.call(token, 'updateName', `<script>alert(1)</script>\u202e${'x'.repeat(3_000)}`)
    await issuer.call(token, 'updateSymbol', '](http://evil) | `')
    const checked = await judged([honest], token)
    expect(checked.judgement.complete).toBe(true)
    expect(checked.judgement.flags.map(({ code }) => code)).toContain('tricky_text')
    const options = { network: 'eip155:8453', node: 'http://127.0.0.1', synthetic: false }
    const report = { ...buildReport(checked, options), attestation: {} }
    for (const page of [renderHtml(report), renderMarkdown(report)]) {
      expect(page).not.toContain('<script')
      expect(page).not.toContain('\u202e')
    }
    expect(renderMarkdown(report)).not.toContain('](http')
    const answer = checkAnswer(checked, { ...options, reportUrl: '', reportPriceUsd: '' })
    expect(String(show(checked.facts.name, String)).length).toBeLessThanOrEqual(1_024)
    expect(JSON.stringify(answer)).not.toContain('\u202e')
  })

  test('the same block gives the same verdict and the same report', async () => {
    const first = await judged([honest], locked)
    const again = await readToken(readerOver([honest]), locked, first.facts.block)
    if (again.status !== 'read') throw new Error(again.status)
    const options = { network: 'eip155:8453', node: 'http://127.0.0.1', synthetic: false }
    const of = (one: typeof first) => JSON.stringify({ ...buildReport(one, options), reading: null })
    expect(of({ ...again, judgement: judge(again.facts) })).toBe(of(first))
  })
})
