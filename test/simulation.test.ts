import { expect, test } from 'vitest'
import { topics } from '../packages/till/src/chain/index.ts'
import { breaks, ruleFoundBroken } from './simulation/break-rules.ts'
import { pay, recordAnswer } from './simulation/buyers.ts'
import { recordDrawn } from './simulation/perform-credit.ts'
import { checkReceived } from './simulation/perform-streams.ts'
import { plantedFaults } from './simulation/planted-faults.ts'
import { playKept } from './simulation/play-kept.ts'
import { readRegressions } from './simulation/regressions.ts'
import { type Actions, type RunResult, runSeed } from './simulation/run-seed.ts'
import { shrink } from './simulation/shrink.ts'
import { type Step, type StepKind, stepsOf } from './simulation/steps.ts'

const step = (kind: StepKind, a = 0, b = 0, c = 0): Step => ({ kind, a, b, c })
const doneIn = (actions: Actions, kind: StepKind) => actions[kind]?.done ?? 0

/** Each money path once while nothing is wrong, so that a short run has something to be right about. */
const firstOfAll: Step[] = [
  step('top_up', 1),
  step('draw', 1, 2, 3),
  step('another_process'),
  step('draw', 1, 5, 3),
  ...[0, 4, 8, 1, 2, 3].map((page) => step('attest', page, page)),
  step('subscribe', 3, 0, 1),
  step('buy', 2, 1),
  ...[1, 1].map((buyer) => step('channel_call', buyer, 1, 1)),
  step('mine', 0, 2),
  step('refund'),
  // Signed again for one micro, to another address of ours, and to a stranger.
  ...[0, 2, 3].map((change) => step('double_sign', 1 + change, change, change)),
  step('dust', 2, 0, 1),
  step('cancel_reorged', 1, 0, 1),
  step('pay_for_another', 1, 0, 4_001),
  step('late_buy', 3, 1),
]

/** A taste of `npm run simulate`, which goes on for as long as somebody lets it. */
test('buyers, attackers, crashes, reorgs and liars for a while: every rule holds, and each would be found broken', async () => {
  const found: string[] = []
  const result = await runSeed({
    seed: '7',
    steps: [...firstOfAll, ...stepsOf('7', 6)],
    onEnd: async (scene, violation) => {
      if (violation) return
      for (const one of breaks)
        found.push(`${one.rule} ${one.what}: ${(await ruleFoundBroken(scene, one)) ?? 'nothing was found'}`)
    },
  })
  expect(result).toMatchObject({ status: 'held' })
  expect(found).toEqual(breaks.map(({ rule, what }) => `${rule} ${what}: ${rule}`))
  const { actions, seen } = result as Extract<RunResult, { status: 'held' }>
  const adversaries = ['double_sign', 'dust', 'cancel_reorged', 'pay_for_another'] as const
  for (const kind of [
    ...adversaries,
    'buy',
    'channel_call',
    'top_up',
    'draw',
    'attest',
    'subscribe',
    'refund',
  ] as const)
    expect(doneIn(actions, kind), kind).toBeGreaterThan(0)
  expect(seen.drawsPromised).toBeGreaterThan(0)
  expect(seen.attestations).toBeGreaterThan(0)
  expect(seen.creatorsPaid).toBeGreaterThan(0)
  expect(seen.payouts).toBeGreaterThan(0)
  expect(seen.stepsOfTwo).toBeGreaterThan(0)
}, 240_000)

/** Held until it is final; the buyer asks again with a new authorization before that. */
const faultSteps = [step('buy', 0, 1, 1), step('retry_fresh'), step('mine', 1, 2)]

test.each([
  ['no claim', 'promise 1'],
  ['double settle', 'promise 4'],
])(
  'a node with the fault "%s" is found out',
  async (name, rule) => {
    const plant = plantedFaults[name]
    expect(plant).toBeDefined()
    const result = await runSeed({ seed: 'plain', steps: faultSteps, ...(plant === undefined ? {} : { plant }) })
    expect(result).toMatchObject({ status: 'violated', rule })
  },
  180_000,
)

test('a node with the fault "missing posting" is found out, and of its steps only the one stays that shows it', async () => {
  const plant = plantedFaults['missing posting'] as NonNullable<(typeof plantedFaults)[string]>
  const steps = [step('mine'), step('buy'), step('mine')]
  const options = { seed: 'plain', plant }
  const result = await runSeed({ ...options, steps })
  if (result.status !== 'violated') throw new Error('not found')
  const shrunk = await shrink(options, { steps, result }, 10)
  expect(shrunk.steps).toEqual([step('buy')])
  // What would be kept says the same when it is played again.
  const kept = JSON.parse(JSON.stringify(shrunk.steps)) as Step[]
  expect(await runSeed({ ...options, steps: kept })).toMatchObject({ status: 'violated', rule: 'I6', at: 0 })
}, 180_000)

test('rules about answers can be broken too: other bytes, a 402 for money that moved, an event left out', async () => {
  const answered = { id: 'o', path: '/', init: {}, altered: false, identifier: 'named', body: 'one' }
  const order = { ...answered, boughtAgain: new Set() } as never
  expect(() => recordAnswer(order, 'two', '0x')).toThrow('I12')
  const draw = { key: 'k', answers: [{ body: '{}', callId: undefined }] } as never
  expect(() => recordDrawn('d', draw, '{"other":1}')).toThrow('I12')
  expect(() => checkReceived([4, 5, 7], 'w')).toThrow('stream')
  const [payer, payTo, usdc] = ['1', '3', '4'].map((digit) => `0x${digit.repeat(40)}`)
  const nonce = `0x${'2'.repeat(64)}`
  const word = (address: string | undefined) => `0x${address?.slice(2).padStart(64, '0')}`
  const log = { address: usdc, transactionHash: '0x5', blockNumber: '0x1', data: '0x1' }
  const shown: Record<string, unknown> = {
    eth_getBlockByNumber: { number: '0x1' },
    eth_getLogs: [
      { ...log, logIndex: '0x0', topics: [topics.authorizationUsed, word(payer), nonce] },
      { ...log, logIndex: '0x1', topics: [topics.transfer, word(payer), word(payTo)] },
    ],
  }
  const world = {
    time: { startMs: 0, nowMs: () => 0, clockFor: () => ({}), until: (work: unknown) => work },
    fetch: async () => new Response('', { status: 402 }),
    payTo,
    chains: [{ chainId: 8453, usdc, request: async (method: string) => shown[method] ?? '0x1' }],
  }
  const payload = { accepted: { network: 'eip155:8453' }, payload: { authorization: { from: payer, nonce } } }
  await expect(pay({ world, history: { sent: [] } } as never, order, payload as never)).rejects.toThrow('promise 3')
})

test('what the simulation once found stays fixed', async () => {
  const kept = await readRegressions()
  expect(await playKept(kept.filter(({ narrower }) => narrower === undefined))).toEqual([])
}, 300_000)
