import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const rewardProblems = defineProblems({
  redemption_conflict: row(
    409,
    false,
    'This nonce was used for another redemption',
    'Get a fresh nonce from GET /redeem/info and sign again.',
  ),
  redemption_expired: row(
    410,
    false,
    'The time to redeem has passed',
    'Get a fresh nonce from GET /redeem/info and sign again; no points were used.',
  ),
  points_insufficient: row(
    422,
    false,
    'Not enough points',
    'See `balance` and `pending`; pending points can be used once their payment is final.',
  ),
})
