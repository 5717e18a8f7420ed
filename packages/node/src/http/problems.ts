import { defineProblems, problemRow as row, setHints } from '@assay/till/kernel/problem'

export const httpProblems = defineProblems({
  uri_too_long: row(414, false, 'URL too long', 'Shorten the query.'),
  misdirected: row(
    421,
    false,
    'Host is not served by this node',
    'Use the base address in the index; this node does not answer for other authorities.',
  ),
})

setHints({ not_found: 'Check what the address names; GET / lists every route of this node, and paths are exact.' })
