import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const matrixProblems = defineProblems({
  licence_required: row(
    403,
    false,
    'Feed may not be sold by this node',
    'See `left_out` for the sources and why. The free tier may still show it; another node may hold a licence.',
  ),
  screens_full: row(409, false, 'Too many saved screens', 'Remove one with POST /v1/matrix/screens/remove.'),
})
