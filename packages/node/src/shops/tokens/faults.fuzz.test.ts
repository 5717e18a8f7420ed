import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { type RpcCall, type RpcEndpoint, RpcRefusal } from '@assay/till/chain'
import { systemClock } from '@assay/till/kernel/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { roles, type ScopeName } from './abi/b20.ts'
import { evaluate } from './evaluate/evaluate.ts'
import { type Evaluation, powerNames } from './evaluate/types.ts'
import { answerModel, createModel, type ModelToken, operations } from './model-chain.fixture.ts'
import { Unreadable } from './read/pin-block.ts'
import { readToken } from './read/read-token.ts'
import { panelOf, readerOver } from './reader.fixture.ts'

// A longer run: FAULT_SETS=1000000 npx vitest run packages/node/src/shops/tokens/faults.fuzz.test.ts
const faultSets = Number(process.env.FAULT_SETS ?? 600)
const nowSeconds = Math.floor(systemClock.nowMs() / 1000)
// Time is fixed, and nobody waits: nothing here is slow, it is only wrong.
const stillClock = { ...systemClock, nowMs: () => nowSeconds * 1000, sleep: () => new Promise<void>(() => {}) }

const people = ['11', '22', '33', '44'].map((byte) => `0x${byte.repeat(20)}` as Address)
const [issuer, minter, guard, stranger] = people as [Address, Address, Address, Address]

/** Tokens of every kind of control. */
function models(): ModelToken[] {
  const make = (admin: Address | undefined, shape: (model: ModelToken) => void) => {
    const model = createModel(admin)
    shape(model)
    model.block += 3
    return model
  }
  const adminless = (shape: (model: ModelToken) => void) =>
    make(issuer, (model) => {
      shape(model)
      model.block += 1
      operations.renounceLastAdmin(model, issuer)
    })
  const freeze = (scope: ScopeName, renounced: boolean) => (model: ModelToken) => {
    const id = operations.createPolicy(model, guard, 0, [stranger])
    operations.bind(model, issuer, scope, id)
    if (renounced) operations.renouncePolicy(model, id)
  }
  return [
    make(undefined, () => {}),
    make(issuer, () => {}),
    adminless(() => {}),
    adminless((model) => operations.grant(model, issuer, roles.MINT_ROLE, minter)),
    adminless((model) => operations.grant(model, issuer, roles.PAUSE_ROLE, guard)),
    adminless((model) => operations.grant(model, issuer, roles.METADATA_ROLE, guard)),
    adminless(freeze('TRANSFER_SENDER_POLICY', false)),
    adminless(freeze('TRANSFER_RECEIVER_POLICY', true)),
    adminless((model) => {
      freeze('SEIZE_EXEMPT_POLICY', false)(model)
      operations.grant(model, issuer, roles.SEIZE_ROLE, guard)
    }),
    adminless((model) => {
      operations.grant(model, issuer, roles.PAUSE_ROLE, guard)
      operations.pause(model, guard, 1, true)
      operations.grant(model, issuer, roles.MINT_ROLE, minter)
    }),
    adminless((model) => operations.cap(model, issuer, model.supply)),
    make(issuer, (model) => {
      operations.setRoleAdmin(model, issuer, roles.MINT_ROLE, roles.PAUSE_ROLE)
      operations.grant(model, issuer, roles.PAUSE_ROLE, guard)
      operations.grant(model, issuer, roles.DEFAULT_ADMIN_ROLE, `0x${'00'.repeat(20)}`)
      operations.renounce(model, issuer, roles.DEFAULT_ADMIN_ROLE)
    }),
  ]
}

/** Deterministic randomness for one fault set: fast-check shrinks the seed and the rate. */
function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

function garbage(roll: () => number): unknown {
  const hex = (bytes: number): Hex =>
    `0x${Array.from({ length: bytes }, () =>
      Math.floor(roll() * 256)
        .toString(16)
        .padStart(2, '0'),
    ).join('')}`
  const kinds = [
    null,
    '0x',
    hex(32),
    hex(1 + Math.floor(roll() * 64)),
    'not hex',
    7,
    {},
    [{}],
    undefined,
    '0xzz',
    `${hex(20)}0`,
  ]
  return kinds[Math.floor(roll() * kinds.length)]
}

/** Errors and garbage anywhere, also in single views of a multicall. */
function breaking(model: ModelToken, roll: () => number, rate: number): RpcEndpoint {
  const one = (call: RpcCall): unknown => {
    if (roll() < rate) {
      const kind = roll()
      if (kind < 0.3) throw new RpcRefusal(-32005, 'limit exceeded')
      if (kind < 0.5) throw new Error('HTTP 429')
      return garbage(roll)
    }
    return answerModel(model, call, nowSeconds, (_view, result) => {
      if (roll() >= rate) return result
      const bad = garbage(roll)
      return {
        success: roll() < 0.7,
        data: typeof bad === 'string' && /^0x([0-9a-f]{2})*$/.test(bad) ? (bad as Hex) : '0x',
      }
    })
  }
  return { name: 'breaking', send: async (calls) => calls.map(one) }
}

/** Well-formed lies: other words, other models' answers, dropped and repeated logs. */
function lying(model: ModelToken, others: readonly ModelToken[], roll: () => number, rate: number): RpcEndpoint {
  const one = (call: RpcCall): unknown => {
    const from = roll() < rate ? (others[Math.floor(roll() * others.length)] ?? model) : model
    const answer = answerModel(from, call, nowSeconds, (_view, result) =>
      roll() < rate ? { success: true, data: `0x${(roll() < 0.5 ? '0' : '1').padStart(64, '0')}` } : result,
    )
    return Array.isArray(answer) && roll() < rate ? answer.filter(() => roll() < 0.5) : answer
  }
  return { name: 'lying', send: async (calls) => calls.map(one) }
}

/** The models do not change, so a true answer is worked out once per model and question. */
const trueAnswers = new WeakMap<ModelToken, Map<string, unknown>>()

function trueAnswer(model: ModelToken, call: RpcCall): unknown {
  const known = trueAnswers.get(model) ?? new Map<string, unknown>()
  trueAnswers.set(model, known)
  const asked = call.params[0] as { data?: string } | undefined
  // A multicall is its own name: spelling it out once more would cost as much as answering it.
  const key = call.method === 'eth_call' ? (asked?.data ?? '') : call.method + JSON.stringify(call.params)
  if (!known.has(key)) known.set(key, answerModel(model, call, nowSeconds))
  return known.get(key)
}

const honest = (model: ModelToken): RpcEndpoint => ({
  name: 'honest',
  send: async (calls) => calls.map((call) => trueAnswer(model, call)),
})

/** The same block on the other branch has another name. */
const branched = (hash: Hex): Hex => `0xbb${hash.slice(4)}`
const branchedBlock = (value: unknown) => {
  const block = value as { hash: Hex; stateRoot: Hex }
  return { ...block, hash: branched(block.hash), stateRoot: branched(block.stateRoot) }
}
const branchedLogs = (value: unknown) =>
  (value as { blockHash: Hex }[]).map((log) => ({ ...log, blockHash: branched(log.blockHash) }))

/** Three endpoints that all go over to another branch, where the token is another one, after so many questions. */
function reorganised(before: ModelToken, after: ModelToken, atQuestion: number): RpcEndpoint[] {
  let asked = 0
  const one = (call: RpcCall): unknown => {
    asked += 1
    const isOther = asked > atQuestion
    const named = call.params.flatMap((param) => (param as { blockHash?: Hex } | undefined)?.blockHash ?? [])[0]
    // Asked for a block by its hash, a branch that does not have it says so.
    if (named !== undefined && named.startsWith('0xbb') !== isOther) throw new RpcRefusal(-32000, 'header not found')
    if (!isOther) return trueAnswer(before, call)
    const answer = trueAnswer(after, call)
    if (call.method === 'eth_getBlockByNumber') return branchedBlock(answer)
    return call.method === 'eth_getLogs' ? branchedLogs(answer) : answer
  }
  return ['one', 'two', 'three'].map((name) => ({ name, send: async (calls) => calls.map(one) }))
}

/** What an evaluation says, without when and where it was made. */
const saidBy = ({ verdict, powers }: Evaluation) =>
  JSON.stringify([verdict, ...powerNames.map((name) => powers[name].now)])

async function outcomeOf(
  endpoints: readonly RpcEndpoint[],
  token: Address,
): Promise<Evaluation | 'unreadable' | 'missing'> {
  try {
    const reading = await readToken(
      readerOver(endpoints, {
        clock: stillClock,
        panel: async () => ({ ...panelOf(...endpoints), clock: stillClock }),
      }),
      token,
    )
    return reading.status === 'read' ? evaluate(reading.facts) : 'missing'
  } catch (error) {
    if (error instanceof Unreadable) return 'unreadable'
    throw error
  }
}

const rank = { impossible: 0, latent: 1, armed: 2 } as const

/** Empty where the faulty answer is no cleaner than the true one. */
function cleanerThan(faulty: Evaluation | 'unreadable' | 'missing', truth: Evaluation): string[] {
  if (faulty === 'unreadable') return []
  if (faulty === 'missing') return ['a live token became a missing one']
  const found: string[] = []
  if (faulty.verdict === 'LOCKED' && truth.verdict !== 'LOCKED') found.push(`LOCKED instead of ${truth.verdict}`)
  if (faulty.verdict === 'PARTIALLY_CONTROLLED' && truth.verdict === 'ISSUER_CONTROLLED')
    found.push('partly instead of wholly controlled')
  for (const name of powerNames) {
    const [now, was] = [faulty.powers[name].now, truth.powers[name].now]
    if (now !== 'unknown' && was !== 'unknown' && rank[now] < rank[was]) found.push(`${name} ${now} instead of ${was}`)
  }
  return found
}

test(`no fault makes an answer cleaner (${faultSets} fault sets)`, { timeout: 600_000 + faultSets * 20 }, async () => {
  const all = models()
  const truths = await Promise.all(all.map((model) => outcomeOf([honest(model)], model.token)))
  expect(
    truths.map((truth) => (typeof truth === 'string' ? truth : `${truth.verdict} ${truth.complete}`)),
  ).not.toContain('unreadable')
  for (const truth of truths) expect(typeof truth === 'object' && truth.complete).toBe(true)
  const tally = { same: 0, unknown: 0, unreadable: 0, outvoted: 0, reorged: 0, sets: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: all.length - 1 }),
      fc.integer(),
      fc.constantFrom(0.01, 0.05, 0.2, 0.6),
      fc.constantFrom('broken alone', 'one liar of three', 'one broken of two', 'reorg between reads'),
      async (index, seed, rate, setting) => {
        tally.sets += 1
        if (faultSets > 10_000 && tally.sets % 10_000 === 0) console.log(`${tally.sets} of ${faultSets} fault sets`)
        const model = all[index] as ModelToken
        const truth = truths[index] as Evaluation
        const roll = dice(seed)
        if (setting === 'reorg between reads') {
          const other = Math.floor(roll() * all.length)
          const endpoints = reorganised(model, all[other] as ModelToken, Math.floor(roll() * 60))
          const outcome = await outcomeOf(endpoints, model.token)
          tally.reorged += 1
          // Of one branch or of the other, or nothing at all; never some facts of each.
          if (typeof outcome === 'object')
            expect([saidBy(truth), saidBy(truths[other] as Evaluation)]).toContain(saidBy(outcome))
          else expect(outcome).toBe('unreadable')
          return
        }
        const endpoints =
          setting === 'broken alone'
            ? [breaking(model, roll, rate)]
            : setting === 'one liar of three'
              ? [honest(model), lying(model, all, roll, rate), honest(model)]
              : [honest(model), breaking(model, roll, rate)]
        const outcome = await outcomeOf(endpoints, model.token)
        if (typeof outcome === 'string') tally.unreadable += 1
        else if (outcome.verdict === truth.verdict) tally.same += 1
        else tally.unknown += 1
        expect(cleanerThan(outcome, truth)).toEqual([])
        // Two honest votes of three outvote any liar.
        if (setting !== 'one liar of three') return
        expect(typeof outcome === 'object' && outcome.verdict).toBe(truth.verdict)
        tally.outvoted += 1
      },
    ),
    { numRuns: faultSets },
  )
  expect(tally.same).toBeGreaterThan(faultSets / 10)
  expect(tally.unknown + tally.unreadable).toBeGreaterThan(faultSets / 10)
  expect(tally.reorged).toBeGreaterThan(faultSets / 10)
  if (process.env.FAULT_SETS)
    console.log(
      `seen: 0 cleaner than the truth in ${tally.sets} fault sets; ${tally.outvoted} of ${tally.outvoted} right with 2 of 3 honest; 0 mixed in ${tally.reorged} reorgs between reads`,
    )
})
