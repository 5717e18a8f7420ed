import type { Authorization, Bound, Said } from './world.ts'

const quote: Authorization = { id: 'a', key: 'ka', payer: 'alice', micro: 4, to: 'us', until: 1, request: 'r' }
const again = (id: string, change: Partial<Authorization>): Authorization => ({ ...quote, id, ...change })

/** The same key signed again. */
const less = again('a-less', { micro: 1 })
const paidToOthers = again('a-elsewhere', { to: 'them' })
const longer = again('a-longer', { until: 2 })
const cancel = again('a-cancel', { to: 'nobody', micro: 0, until: 3 })
const others: Authorization = { id: 'b', key: 'kb', payer: 'bob', micro: 4, to: 'us', until: 1, request: 'r' }
const fresh = again('a-fresh', { key: 'kf' })

const everySaid: readonly Said[] = [
  'submitted',
  'submitted_other',
  'submitted_reverted',
  'refused',
  'refused_confirmed',
  'refused_unsent',
  'outage',
  'screened',
  'nothing',
]

const quiet = { processes: 1, heights: 2, says: ['submitted', 'nothing'], jobsInProgress: 0 } as const

export const smallBounds: readonly Bound[] = [
  {
    ...quiet,
    name: 'a key signed again, and a facilitator that lies',
    authorizations: [quote, less, paidToOthers, longer, cancel],
    sends: { a: 1 },
    carried: ['a', 'a-less', 'a-elsewhere', 'a-longer', 'a-cancel'],
    says: everySaid,
    heights: 3,
  },
  {
    ...quiet,
    name: 'two processes, a copy of the payment, a crash',
    authorizations: [quote],
    sends: { a: 2 },
    carried: ['a'],
    processes: 2,
    crashes: 1,
    says: ['submitted'],
  },
  {
    ...quiet,
    name: 'a lease that runs out under a request',
    authorizations: [quote, less],
    sends: { a: 1 },
    carried: ['a', 'a-less'],
    leases: 1,
    deferred: 1,
    lostReplies: 1,
    failedPrepares: 1,
    says: ['submitted', 'refused_unsent', 'outage', 'nothing'],
    inclusionMicroMax: 1,
    jobsInProgress: 1,
  },
  {
    ...quiet,
    name: 'two buyers in one transaction',
    authorizations: [quote, others],
    sends: { a: 1, b: 1 },
    carried: [],
    batch: ['a', 'b'],
    says: ['submitted', 'submitted_other', 'nothing'],
  },
  {
    ...quiet,
    name: 'a reorganisation',
    authorizations: [quote, less, cancel],
    sends: { a: 1 },
    carried: ['a', 'a-less', 'a-cancel'],
    reorgs: 1,
    frontRun: true,
  },
  {
    ...quiet,
    name: 'a reorganisation above the limit of inclusion',
    authorizations: [quote, less],
    sends: { a: 1 },
    carried: ['a', 'a-less'],
    reorgs: 1,
    inclusionMicroMax: 1,
  },
  {
    ...quiet,
    name: 'a reorganisation of what can be revoked',
    authorizations: [quote, less],
    sends: { a: 1 },
    carried: ['a', 'a-less'],
    reorgs: 1,
    inclusionMicroMax: 1,
    revocable: true,
  },
  {
    ...quiet,
    name: 'a restore',
    authorizations: [quote, less],
    sends: { a: 1 },
    carried: ['a', 'a-less'],
    restores: 1,
  },
  {
    ...quiet,
    name: 'a sale, a restore and a reorganisation',
    authorizations: [quote],
    sends: { a: 1 },
    carried: ['a'],
    restores: 1,
    reorgs: 1,
  },
  {
    ...quiet,
    name: 'a payout, a restore and a reorganisation',
    authorizations: [quote],
    sends: {},
    carried: ['a'],
    restores: 1,
    reorgs: 1,
    payouts: true,
    heights: 3,
  },
  {
    ...quiet,
    name: 'an answer that is lost, and a fresh authorization',
    authorizations: [quote, fresh],
    sends: { a: 1, 'a-fresh': 1 },
    carried: [],
    lostAnswers: 1,
  },
  {
    ...quiet,
    name: 'the cap of the exposure',
    authorizations: [quote, others],
    sends: { a: 1, b: 1 },
    carried: [],
    batch: ['a', 'b'],
    capMicro: 4,
    capForAll: true,
  },
  {
    ...quiet,
    name: 'the part of the cap that is for known payers',
    authorizations: [quote, others],
    sends: { a: 1, b: 1 },
    carried: [],
    capMicro: 8,
  },
  {
    ...quiet,
    name: 'a payee that two databases share',
    authorizations: [{ ...quote, soldByOther: true }],
    sends: { a: 1 },
    carried: ['a'],
    shared: true,
  },
]

/** A small bound with more in it. */
const more = (small: string, added: Partial<Bound>): Bound => {
  const found = smallBounds.find(({ name }) => name === small)
  if (!found) throw new Error(`no small bound is called "${small}"`)
  return { ...found, ...added, name: `full: ${small}, and more` }
}

/** Each adds to what the small bounds have; together they are what `npm run model` explores. */
export const fullBounds: readonly Bound[] = [
  more('two processes, a copy of the payment, a crash', {
    authorizations: [quote, less],
    carried: ['a', 'a-less'],
    says: ['submitted', 'refused_unsent', 'nothing'],
  }),
  more('two buyers in one transaction', { carried: ['a'] }),
  more('a reorganisation', {
    authorizations: [quote, less, paidToOthers, cancel],
    carried: ['a', 'a-less', 'a-elsewhere', 'a-cancel'],
    jobsInProgress: 1,
    heights: 3,
  }),
  more('a restore', { sends: { a: 2 } }),
  more('a sale, a restore and a reorganisation', { heights: 3 }),
  more('a payout, a restore and a reorganisation', { heights: 4 }),
  more('an answer that is lost, and a fresh authorization', { carried: ['a', 'a-fresh'], crashes: 1 }),
  more('the part of the cap that is for known payers', { batch: ['a', 'b'] }),
  {
    ...quiet,
    name: 'full: two processes, a key signed four times, a crash, jobs that overlap',
    authorizations: [quote, less, paidToOthers, longer, cancel],
    sends: { a: 2 },
    carried: ['a', 'a-less', 'a-cancel'],
    processes: 2,
    crashes: 1,
    says: ['submitted', 'submitted_reverted', 'refused', 'refused_unsent', 'nothing'],
    jobsInProgress: 1,
  },
  {
    ...quiet,
    name: 'full: a copy of the payment, a crash and a reorganisation',
    authorizations: [quote, less],
    sends: { a: 2 },
    carried: ['a', 'a-less'],
    processes: 2,
    crashes: 1,
    reorgs: 1,
  },
  {
    ...quiet,
    name: 'full: a longer window presented beside the first, a lease that runs out',
    authorizations: [quote, longer],
    sends: { a: 1, 'a-longer': 1 },
    carried: ['a', 'a-longer'],
    leases: 1,
    failedPrepares: 1,
    says: ['submitted', 'refused_unsent', 'nothing'],
    heights: 3,
  },
  {
    ...quiet,
    name: 'full: a sale, a restore and a reorganisation, a key signed again',
    authorizations: [quote, less],
    sends: { a: 1 },
    carried: ['a', 'a-less'],
    restores: 1,
    reorgs: 1,
    heights: 3,
  },
  {
    ...quiet,
    name: 'full: a restore and a crash',
    authorizations: [quote, less],
    sends: { a: 2 },
    carried: ['a', 'a-less'],
    restores: 1,
    crashes: 1,
  },
  {
    ...quiet,
    name: 'full: two buyers, a batch, a crash and a reorganisation',
    authorizations: [quote, others],
    sends: { a: 1, b: 1 },
    carried: ['a'],
    batch: ['a', 'b'],
    crashes: 1,
    reorgs: 1,
    says: ['submitted', 'submitted_other', 'nothing'],
  },
]
