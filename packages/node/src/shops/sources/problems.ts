import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const sourceProblems = defineProblems({
  domain_refused: row(
    400,
    false,
    'Domain cannot be a source',
    'Send a registrable domain such as example.com, without scheme, port or path.',
  ),
  source_unknown: row(
    404,
    false,
    'Source not found',
    'Register the domain first, free of charge: POST /v1/sources/register.',
  ),
  source_unproven: row(
    409,
    false,
    'Domain is not proven',
    'Prove it as GET /v1/sources/{domain} says, then try again.',
  ),
  source_refused: row(
    403,
    false,
    'Domain is banned as a source',
    'Write to the contact in the index if you think this is wrong.',
  ),
})
