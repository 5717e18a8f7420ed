import { defineProblems, Problem, problemRow as row } from '@assay/till/kernel/problem'

export const notificationProblems = defineProblems({
  notification_limit: row(
    409,
    false,
    'Notification limit is reached',
    'See `detail`. Remove what is no longer needed; POST /v1/notifications/plan raises the number of watches.',
  ),
})

export const limitReached = (detail: string) => new Problem(notificationProblems.notification_limit, { detail })
