import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const attestationProblems = defineProblems({
  page_unreadable: row(
    422,
    true,
    'Page cannot be cited',
    'See `detail` for what the page answered. Nothing was charged, nothing was logged.',
  ),
  page_changed: row(
    409,
    false,
    'Page changed since it was matched',
    'Match again, or cite without query_id. Nothing was charged.',
  ),
  citation_not_allowed: row(
    403,
    false,
    'Creator does not allow this citation',
    'See `detail`, and the terms of the site at /v1/sources/{domain}/terms. Nothing was charged.',
  ),
  citation_price_moved: row(
    409,
    true,
    'Price of the citation has changed',
    'Request the price again; `price_micro` is the present one. Nothing was charged.',
  ),
  agent_unproven: row(
    403,
    false,
    'agent_wallet is not the payer',
    'Pay from agent_wallet, or add its EIP-712 agent_signature for this citation. Nothing was charged.',
  ),
})
