import { defineProblems, problemRow as row, setHints } from '@assay/till/kernel/problem'

export const accountProblems = defineProblems({
  dispute_refused: row(
    409,
    false,
    'Payment cannot be disputed',
    'See `detail`. A payment can be disputed once, for 30 days, by its payer; its status shows what was decided.',
  ),
  invoiced_before: row(
    409,
    false,
    'Payment is on an invoice already',
    'GET /v1/invoices/{id} for those in `invoices`; leave out the payments that are on them.',
  ),
  mandate_conflict: row(
    409,
    false,
    'Nonce belongs to another mandate',
    'Use a separate nonce for each mandate; a mandate that was revoked stays revoked.',
  ),
})

setHints({
  mandate_unknown: 'Send the signed mandate to POST /v1/mandates first; the answer has its id. Nothing was charged.',
  mandate_unconfirmed:
    'Ask the owner to present it again: POST /v1/mandates in a request that the owner signs (ERC-8128). Nothing was charged.',
  bond_unknown: 'GET /v1/credit/{wallet}/bonds lists them.',
  proof_invalid: 'Get a fresh challenge from POST /v1/auth/challenge and sign it again.',
})
