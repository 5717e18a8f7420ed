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

/** One copy of the first authorization is sent, and anybody may carry each of them, unless said otherwise. */
const bound = (name: string, authorizations: readonly Authorization[], more: Partial<Bound> = {}): Bound => ({
  ...{ processes: 1, heights: 2, says: ['submitted', 'nothing'], jobsInProgress: 0, sends: { a: 1 } },
  carried: authorizations.map(({ id }) => id),
  ...{ name, authorizations, ...more },
})

export const smallBounds: readonly Bound[] = [
  bound('a key signed again, and a facilitator that lies', [quote, less, paidToOthers, longer, cancel], {
    says: everySaid,
    heights: 3,
  }),
  bound('two processes, a copy of the payment, a crash', [quote], {
    sends: { a: 2 },
    processes: 2,
    crashes: 1,
    says: ['submitted'],
  }),
  bound('a lease that runs out under a request', [quote, less], {
    leases: 1,
    deferred: 1,
    lostReplies: 1,
    failedPrepares: 1,
    says: ['submitted', 'refused_unsent', 'outage', 'nothing'],
    inclusionMicroMax: 1,
    jobsInProgress: 1,
  }),
  bound('two buyers in one transaction', [quote, others], {
    ...{ sends: { a: 1, b: 1 }, carried: [], batch: ['a', 'b'], alike: true },
    says: ['submitted', 'submitted_other', 'nothing'],
  }),
  bound('a reorganisation', [quote, less, cancel], { reorgs: 1, frontRun: true }),
  bound('a reorganisation above the limit of inclusion', [quote, less], { reorgs: 1, inclusionMicroMax: 1 }),
  bound('a reorganisation of what can be revoked', [quote, less], { reorgs: 1, inclusionMicroMax: 1, revocable: true }),
  bound('a restore', [quote, less], { restores: 1 }),
  bound('a sale, a restore and a reorganisation', [quote], { restores: 1, reorgs: 1 }),
  bound('a payout, a restore and a reorganisation', [quote], {
    sends: {},
    restores: 1,
    reorgs: 1,
    payouts: true,
    heights: 3,
  }),
  bound('an answer that is lost, and a fresh authorization', [quote, fresh], {
    sends: { a: 1, 'a-fresh': 1 },
    carried: ['a'],
    says: ['submitted'],
    lostAnswers: 1,
  }),
  bound('a fresh authorization for a lost answer, sent again', [quote, fresh], {
    sends: { a: 1, 'a-fresh': 2 },
    oneAfterTheOther: true,
    says: ['submitted'],
    lostAnswers: 1,
  }),
  bound('the cap of the exposure', [quote, others], {
    ...{ sends: { a: 1, b: 1 }, carried: [], batch: ['a', 'b'], alike: true },
    capMicro: 4,
    capForAll: true,
  }),
  bound('the part of the cap that is for known payers', [quote, others], {
    ...{ sends: { a: 1, b: 1 }, carried: [], alike: true },
    capMicro: 8,
  }),
  bound('a payee that two databases share', [{ ...quote, soldByOther: true }], { shared: true }),
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
  more('two buyers in one transaction', { carried: ['a'], alike: false }),
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
  more('a fresh authorization for a lost answer, sent again', { oneAfterTheOther: false }),
  // Which buyer is first also says whose transfer is first in the transaction.
  more('the part of the cap that is for known payers', { batch: ['a', 'b'], alike: false }),
  more('the cap of the exposure', { alike: false }),
  bound(
    'full: two processes, a key signed four times, a crash, jobs that overlap',
    [quote, less, paidToOthers, longer, cancel],
    {
      sends: { a: 2 },
      carried: ['a', 'a-less', 'a-cancel'],
      processes: 2,
      crashes: 1,
      says: ['submitted', 'submitted_reverted', 'refused', 'refused_unsent', 'nothing'],
      jobsInProgress: 1,
    },
  ),
  bound('full: a copy of the payment, a crash and a reorganisation', [quote, less], {
    sends: { a: 2 },
    processes: 2,
    crashes: 1,
    reorgs: 1,
  }),
  bound('full: a longer window presented beside the first, a lease that runs out', [quote, longer], {
    sends: { a: 1, 'a-longer': 1 },
    leases: 1,
    failedPrepares: 1,
    says: ['submitted', 'refused_unsent', 'nothing'],
    heights: 3,
  }),
  bound('full: a sale, a restore and a reorganisation, a key signed again', [quote, less], {
    restores: 1,
    reorgs: 1,
    heights: 3,
  }),
  bound('full: a restore and a crash', [quote, less], { sends: { a: 2 }, restores: 1, crashes: 1 }),
  bound('full: two buyers, a batch, a crash and a reorganisation', [quote, others], {
    sends: { a: 1, b: 1 },
    carried: ['a'],
    batch: ['a', 'b'],
    crashes: 1,
    reorgs: 1,
    says: ['submitted', 'submitted_other', 'nothing'],
  }),
]
