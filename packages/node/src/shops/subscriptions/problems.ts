import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const subscriptionProblems = defineProblems({
  fair_use: row(
    429,
    true,
    'Fair-use limit of the subscription is reached',
    'Wait for Retry-After seconds, or pay for the call; the limits are in GET /v1/subscriptions/plans.',
  ),
  subscription_state: row(
    409,
    false,
    'Subscription does not allow this now',
    'GET /v1/subscriptions/list shows tier, end, pause and renewal of each subscription.',
  ),
  subscription_required: row(
    403,
    false,
    'Streams are for subscribers',
    'Buy /matrix/subscribe/vip, or pull without stream=1. Nothing was charged.',
  ),
})
