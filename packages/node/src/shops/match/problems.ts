import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const matchProblems = defineProblems({
  no_match: row(
    404,
    false,
    'No page matches',
    'See `understood`. Use other or fewer words, or loosen the filters; nothing was charged.',
  ),
})
