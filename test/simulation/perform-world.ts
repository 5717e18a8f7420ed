import { facilitatorFaults } from '../../packages/conformance/src/facilitator/index.ts'
import { signRequest } from '../../packages/sdk/src/index.ts'
import { requestRefund } from '../../packages/till/src/internal.ts'
import { approvePayout } from '../../packages/till/src/payouts/index.ts'
import { scanTransfers } from '../harness/chain-transfers.ts'
import type { Scene } from './buyers.ts'
import { viewFaults } from './fault-plan.ts'
import type { Step, StepKind } from './steps.ts'
import { buyerCount, finalityLagBlocks, viewsPerChain } from './world.ts'

/** Delays have their own steps. */
const simulatedFaults = facilitatorFaults.filter((fault) => fault !== 'is_slow')

/** False: it was tried in vain. Undefined: there was nothing to try it on. */
export type Perform = (scene: Scene, step: Step) => Promise<unknown>

const chainFor = ({ world }: Scene, step: Step) => {
  // Nearly all money moves on the first chain.
  const chain = world.chains[step.a % 5 === 0 ? 1 : 0]
  if (!chain) throw new Error('no chain')
  return chain
}

/** Large payouts wait for a person, and those to a payee that a facilitator did not serve; this one says yes. */
export async function approveWaiting({ world }: Scene): Promise<number> {
  const { rows } = await world.db.owner.query<{ id: string }>(
    `select id from payout p where state = 'waiting' or (state in ('queued', 'signed')
       and exists (select from payout_hold h where h.network = p.network and h.payee = p.payee))
     order by created_at, id`,
  )
  for (const { id } of rows) await approvePayout(world.db.database, id, 'simulated operator')
  return rows.length
}

export const performWorld = {
  pass: ({ world }, step) => world.time.pass((1 + (step.a % 20)) * (step.b % 12 === 0 ? 6_000 : 400)),
  mine: (scene, step) => chainFor(scene, step).control.mine(1 + (step.b % 3)),
  reorg: async (scene, step) => {
    const { control } = chainFor(scene, step)
    await scanTransfers(scene.world.chains, scene.history.chain)
    // Never deeper than what is called final: a chain that breaks that word is beyond anybody's help.
    const depth = 1 + (step.b % (finalityLagBlocks - 1))
    const transactions = (['reinclude', 'return_to_mempool', 'drop'] as const)[step.c % 3] ?? 'reinclude'
    await control.reorg(depth, { transactions })
    await scanTransfers(scene.world.chains, scene.history.chain, depth + 1)
  },
  hold_mining: (scene, step) => chainFor(scene, step).control.holdMining(),
  release_mining: async (scene) => {
    for (const { control } of scene.world.chains) await control.releaseMining()
  },
  drop_pending: async (scene, step) => {
    const chain = chainFor(scene, step)
    const pending = (await chain.request('eth_getBlockByNumber', ['pending', false]).catch(() => null)) as {
      transactions: `0x${string}`[]
    } | null
    const hash = pending?.transactions[step.b % Math.max(1, pending.transactions.length)]
    if (hash) await chain.control.dropTransaction(hash)
  },
  fault_view: async (scene, step) => {
    const { chainId } = chainFor(scene, step)
    const kind = viewFaults[step.c % viewFaults.length]
    if (!kind) return
    for (const name of [...scene.world.plan.views.keys()])
      if (name.includes(`chain-${chainId}.`)) scene.world.plan.views.delete(name)
    scene.world.plan.views.set(`view-${1 + (step.b % viewsPerChain)}.chain-${chainId}.test`, {
      kind,
      blocks: 1 + (step.b % 5),
    })
  },
  repair_views: async ({ world }) => world.plan.views.clear(),
  fault_facilitator: async ({ world }, step) => {
    const fault = simulatedFaults[step.a % simulatedFaults.length]
    if (fault) world.plan.facilitator.push(fault)
  },
  skew_clock: async ({ world }, step) => {
    const lives = world.lives()
    const life = lives[step.b % Math.max(1, lives.length)]
    if (life) life.skewMs = (step.a % 40_000) - 20_000
  },
  crash: ({ world }, step) => world.kill(step.a),
  /** Where two run, one is replaced as in a rollout; else another is started. */
  another_process: async ({ world }, step) => {
    if (world.lives().length > 1) await world.drain(step.a)
    else await world.startAnother()
  },
  crash_at_call: async ({ world }, step) => world.plan.dieAt(1 + (step.a % 60), step.b % 2 === 0 ? 'before' : 'after'),
  lose_answer: async ({ world }, step) => world.plan.loseAnswerAt(1 + (step.a % 40)),
  refund: async ({ world }, step) => {
    const { rows } = await world.db.owner.query<{ id: string }>(
      `select id from payment where state in ('served','credited') order by claimed_at desc, id limit 8`,
    )
    const paymentId = rows[step.a % Math.max(1, rows.length)]?.id
    if (paymentId === undefined) return undefined
    await requestRefund(world.db.database, { paymentId, reason: 'simulated', by: 'simulated operator' })
    return true
  },
  approve: async (scene) => (await approveWaiting(scene)) > 0 || undefined,
  refund_credit: async ({ world, rng }, step) => {
    const account = world.buyers[step.a % buyerCount]
    if (!account) return undefined
    const app = world.app()
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const request = await signRequest(`${app.address}/v1/credit/refund`, init, {
      account,
      platform: { nowMs: world.time.nowMs, randomBytes: (n) => rng.bytes(n) },
    })
    return app
      .fetch('/v1/credit/refund', { ...init, headers: Object.fromEntries(request.headers) })
      .then((response) => world.time.until(response.text()).then(() => response.status === 200))
      .catch(() => false)
  },
} satisfies Partial<Record<StepKind, Perform>>
