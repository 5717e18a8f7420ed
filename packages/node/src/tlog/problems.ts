import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const logProblems = defineProblems({
  log_stopped: row(
    503,
    true,
    'Transparency log is stopped',
    'Try again later; nothing was charged. GET /v1/log says why, and since when.',
  ),
})
