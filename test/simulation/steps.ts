import { createDice, createSeededRng } from './seeded-rng.ts'
import { has, type Part } from './shops.ts'

/** A step is a name and three numbers: it means something in any state, so that a list of steps can be thinned out. */
export type Step = { kind: StepKind; a: number; b: number; c: number }

/** How often each kind comes up, against the others. */
const weights = {
  // buyers
  buy: 22,
  hang_up_buy: 5,
  retry_fresh: 10,
  resend: 8,
  top_up: 9,
  draw: 20,
  subscribe: 1,
  channel_call: 14,
  option_buy: 6,
  option_write: 3,
  attest: 12,
  stream_buy: 4,
  stream_open: 6,
  // attackers
  replay_for_other: 4,
  alter_payment: 5,
  submit_first: 3,
  cancel: 2,
  double_sign: 5,
  dust: 2,
  cancel_reorged: 2,
  pay_for_another: 2,
  late_buy: 3,
  // operators
  refund: 2,
  refund_credit: 1,
  approve: 1,
  plain_transfer: 1,
  // the world
  pass: 10,
  mine: 6,
  reorg: 4,
  reorged_buy: 6,
  hold_mining: 3,
  release_mining: 4,
  drop_pending: 2,
  fault_view: 4,
  repair_views: 4,
  fault_facilitator: 6,
  skew_clock: 2,
  crash: 4,
  crash_at_call: 4,
  another_process: 6,
  lose_answer: 2,
} as const
export type StepKind = keyof typeof weights

/** What happens only where there is something of the kind. */
const partOf: Partial<Record<StepKind, Part>> = {
  option_buy: 'exchange',
  option_write: 'exchange',
  attest: 'citations',
  stream_buy: 'stream',
  stream_open: 'stream',
}

const bagOf = (seed: string): StepKind[] =>
  (Object.entries(weights) as [StepKind, number][])
    .filter(([kind]) => partOf[kind] === undefined || has(seed, partOf[kind]))
    .flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind))

/** The steps of a seed; of some kinds only, where somebody looks for something particular. */
export function stepsOf(seed: string, count: number, only?: readonly StepKind[]): Step[] {
  const dice = createDice(createSeededRng(`${seed}:steps`))
  const kinds = bagOf(seed).filter((kind) => only === undefined || only.includes(kind))
  return Array.from({ length: count }, () => ({
    kind: dice.pick(kinds),
    a: dice.below(1 << 16),
    b: dice.below(1 << 16),
    c: dice.below(1 << 16),
  }))
}
