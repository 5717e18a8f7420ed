import type { Log } from '../../packages/till/src/kernel/log.ts'
import { checkTransfers } from '../harness/check-transfers.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import { booksOf, checkAnswers } from './check-answers.ts'
import { checkBooks } from './check-books.ts'
import { checkChannels } from './check-channels.ts'
import { checkDraws } from './check-draws.ts'
import { checkLog } from './check-log.ts'
import { placeOf } from './describe-order.ts'
import { createHistory } from './history.ts'
import { buyLate, cancelReorged, doubleSign, payForAnother, sendDust } from './perform-adversaries.ts'
import { alterPayment, cancel, plainTransfer, replayForOther, submitFirst } from './perform-attackers.ts'
import { buy, buyAndHangUp, resend, retryFresh, subscribe } from './perform-buyers.ts'
import { callByChannel } from './perform-channels.ts'
import { attest } from './perform-citations.ts'
import { drawCredit, topUp } from './perform-credit.ts'
import { buyOption, writeOption } from './perform-options.ts'
import { reorgedBuy } from './perform-reorged.ts'
import { buyStream, openStream } from './perform-streams.ts'
import { type Perform, performWorld } from './perform-world.ts'
import { createSeededRng } from './seeded-rng.ts'
import type { Step, StepKind } from './steps.ts'
import { waitUntilIdle } from './wait-until-idle.ts'
import { openWorld, type Plant } from './world.ts'

const perform: Record<StepKind, Perform> = {
  ...performWorld,
  buy: (scene, step) => buy(scene, step),
  hang_up_buy: buyAndHangUp,
  retry_fresh: retryFresh,
  resend,
  top_up: topUp,
  draw: drawCredit,
  subscribe,
  channel_call: callByChannel,
  option_buy: buyOption,
  option_write: writeOption,
  attest: (scene, step) => attest(scene, step),
  stream_buy: buyStream,
  stream_open: openStream,
  replay_for_other: replayForOther,
  alter_payment: alterPayment,
  submit_first: submitFirst,
  cancel,
  double_sign: doubleSign,
  dust: sendDust,
  cancel_reorged: cancelReorged,
  pay_for_another: payForAnother,
  late_buy: buyLate,
  reorged_buy: reorgedBuy,
  plain_transfer: plainTransfer,
}

export type RunOptions = {
  seed: string
  steps: readonly Step[]
  plant?: Plant
  log?: Log
  /** Whether timers strike late; else the seed decides. */
  late?: boolean
  /** The world becomes idle after this many steps, and at the end. */
  restEvery?: number
  onStep?(number: number, step: Step, place: string): void
  /** To look around where a rule was broken, or at the end, before the world is gone. */
  onEnd?(scene: Scene, violation?: Violation): Promise<void>
}

/** How often each action was tried, and how often it came about. */
export type Actions = Partial<Record<StepKind, { tried: number; done: number }>>

export type RunResult =
  | { status: 'held'; steps: number; actions: Actions; seen: Seen }
  | { status: 'violated'; at: number; rule: string; message: string; actions: Actions }

/** What a run came across, so that nobody takes a run in which nothing happened for a proof. */
export type Seen = {
  orders: number
  answered: number
  paymentsSent: number
  draws: number
  drawsPromised: number
  attestations: number
  creatorsPaid: number
  payouts: number
  reorged: number
  eventsRead: number
  channelSales: number
  channelClaims: number
  /** Steps during which two processes ran. */
  stepsOfTwo: number
  /** Through the database port. */
  statements: number
}

/** Plays the steps of one seed, and looks at everything after each of them. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const { seed, steps, restEvery = 50 } = options
  const world = await openWorld({
    seed,
    ...(options.plant === undefined ? {} : { plant: options.plant }),
    ...(options.log === undefined ? {} : { log: options.log }),
    ...(options.late === undefined ? {} : { late: options.late }),
  })
  const scene: Scene = { world, history: createHistory(), rng: createSeededRng(`${seed}:actors`) }
  const actions: Actions = {}
  let at = 0
  let stepsOfTwo = 0
  try {
    for (const step of steps) {
      scene.history.step = `${at} ${step.kind}`
      options.onStep?.(at, step, placeOf(scene))
      world.turnTo(step.a + step.b)
      if (world.lives().length > 1) stepsOfTwo += 1
      const came = await perform[step.kind](scene, step)
      count(actions, step.kind, came)
      await world.revive()
      await checkStep(scene)
      at += 1
      if (at % restEvery !== 0 && at !== steps.length) continue
      scene.history.step = `${at} rest`
      await waitUntilIdle(scene)
      await checkScene(scene)
    }
    await options.onEnd?.(scene)
    return { status: 'held', steps: at, actions, seen: { ...(await lookBack(scene)), stepsOfTwo } }
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    await options.onEnd?.(scene, error)
    return { status: 'violated', at, rule: error.rule, message: error.message, actions }
  } finally {
    await world.close()
  }
}

/** Everything that must hold at every moment; nothing is checked again after a step in which nothing happened. */
async function checkStep(scene: Scene): Promise<void> {
  const { world, history } = scene
  const { asked } = world.tally
  const happened = () => [asked, ...world.chains.map(({ control }) => control.head().hash)].join(' ')
  if (happened() === history.checkedState) return
  await checkScene(scene, true)
  // Looking at a chain may make a new block, which is empty.
  history.checkedState = happened()
}

async function checkScene(scene: Scene, onlyGrown = false): Promise<void> {
  await checkBooks(scene, onlyGrown)
  await checkAnswers(scene)
  await checkTransfers(booksOf(scene))
  await checkDraws(scene)
  await checkChannels(scene)
  await checkLog(scene)
}

function count(actions: Actions, kind: StepKind, came: unknown): void {
  const counted = actions[kind] ?? { tried: 0, done: 0 }
  actions[kind] = counted
  // What gives no answer is done by being said: nobody can refuse a block or a crash.
  if (came !== undefined || kind in performWorld) counted.tried += 1
  if (came === true || (came === undefined && kind in performWorld)) counted.done += 1
}

async function lookBack({ world, history }: Scene): Promise<Omit<Seen, 'stepsOfTwo'>> {
  const { rows } = await world.db.owner.query<Record<string, bigint>>(
    `select (select count(*) from entitled_call where port = 'credit' and state = 'captured') as draws,
       (select count(*) from attestation) as attestations,
       (select count(*) from creator_claim) as claims,
       (select count(*) from payout where state = 'paid') as payouts,
       (select count(*) from payment where reorgs > 0) as reorged,
       (select count(*) from channel_sale) as channel_sales,
       (select count(*) from channel where posted_micro > 0) as channel_claims`,
  )
  const of = (name: string) => Number(rows[0]?.[name] ?? 0n)
  return {
    orders: history.orders.length,
    answered: history.orders.filter(({ body }) => body !== undefined).length,
    paymentsSent: history.sent.length,
    draws: of('draws'),
    drawsPromised: world.tally.promisedDraws,
    attestations: of('attestations'),
    creatorsPaid: of('claims'),
    payouts: of('payouts'),
    reorged: of('reorged'),
    eventsRead: history.eventsRead,
    channelSales: of('channel_sales'),
    channelClaims: of('channel_claims'),
    statements: world.tally.statements,
  }
}
