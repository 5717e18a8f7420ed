import type { Log } from '../../packages/node/src/kernel/log.ts'
import type { Scene } from './buyers.ts'
import { checkAnswers } from './check-answers.ts'
import { checkBooks } from './check-books.ts'
import { comeToRest } from './come-to-rest.ts'
import { createHistory } from './history.ts'
import { bendPayment, cancel, carryFirst, plainTransfer, replayElsewhere } from './perform-attackers.ts'
import { buy, drawCredit, impatientBuy, resend, retryFresh, subscribe, topUp } from './perform-buyers.ts'
import { buyOption, writeOption } from './perform-options.ts'
import { performWorld } from './perform-world.ts'
import { createSeededRng } from './seeded-rng.ts'
import type { Step, StepKind } from './steps.ts'
import { Violation } from './violation.ts'
import { openWorld, type Plant } from './world.ts'

const perform: Record<StepKind, (scene: Scene, step: Step) => Promise<void>> = {
  ...performWorld,
  buy: (scene, step) => buy(scene, step),
  impatient_buy: impatientBuy,
  retry_fresh: retryFresh,
  resend,
  top_up: topUp,
  draw: drawCredit,
  subscribe,
  option_buy: buyOption,
  option_write: writeOption,
  replay_elsewhere: replayElsewhere,
  bend_payment: bendPayment,
  carry_first: carryFirst,
  cancel,
  plain_transfer: plainTransfer,
}

export type RunOptions = {
  seed: string
  steps: readonly Step[]
  plant?: Plant
  log?: Log
  /** The world comes to rest after this many steps, and at the end. */
  restEvery?: number
  onStep?(number: number, step: Step): void
}

export type RunResult =
  | { status: 'held'; steps: number; orders: number; payments: number; draws: number }
  | { status: 'violated'; at: number; rule: string; message: string }

/** Plays the steps of one seed, and looks at everything after each of them. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const { seed, steps, restEvery = 50 } = options
  const world = await openWorld({
    seed,
    ...(options.plant === undefined ? {} : { plant: options.plant }),
    ...(options.log === undefined ? {} : { log: options.log }),
  })
  const scene: Scene = { world, history: createHistory(), rng: createSeededRng(`${seed}:actors`) }
  let at = 0
  try {
    for (const step of steps) {
      options.onStep?.(at, step)
      await perform[step.kind](scene, step)
      if (!world.life().alive) await world.restart()
      await checkBooks(scene)
      await checkAnswers(scene)
      at += 1
      if (at % restEvery === 0 || at === steps.length) await comeToRest(scene)
    }
    const { orders, sent, draws } = scene.history
    return { status: 'held', steps: at, orders: orders.length, payments: sent.length, draws: draws.size }
  } catch (error) {
    if (error instanceof Violation) return { status: 'violated', at, rule: error.rule, message: error.message }
    throw error
  } finally {
    await world.close()
  }
}
