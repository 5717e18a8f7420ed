import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const royaltyProblems = defineProblems({
  parent_unknown: row(
    404,
    false,
    'Parent not found',
    'Name an attestation or a payment of this node that was served. Nothing was charged.',
  ),
})
