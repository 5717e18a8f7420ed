import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const accountProblems = defineProblems({
  mandate_conflict: row(
    409,
    false,
    'Nonce belongs to another mandate',
    'Use a separate nonce for each mandate; a mandate that was revoked stays revoked.',
  ),
})
