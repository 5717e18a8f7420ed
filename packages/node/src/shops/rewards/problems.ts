import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const rewardProblems = defineProblems({
  redemption_conflict: row(
    409,
    false,
    'Nonce was used for another redemption',
    'Get a fresh nonce from GET /redeem/info and sign again.',
  ),
  redemption_expired: row(
    410,
    false,
    'Redemption has expired',
    'Get a fresh nonce from GET /redeem/info and sign again; no points were used.',
  ),
  points_insufficient: row(
    422,
    false,
    'Not enough points',
    'See `balance` and `pending`; pending points can be used once their payment is final.',
  ),
})
