import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const identityProblems = defineProblems({
  did_invalid: row(
    400,
    false,
    'DID is not valid',
    'Write did:x402:0x… with the method this node is configured for, or did:pkh:eip155:<chain>:0x….',
  ),
  agent_deactivated: row(
    410,
    false,
    'DID was deactivated by its wallet',
    'It cannot be used again here; ask its owner for another DID.',
  ),
  agent_version_conflict: row(
    409,
    true,
    'Declaration was changed meanwhile',
    'GET /v1/agents/{did}, apply the change to `version` and send that as expected_version.',
  ),
  registration_unproven: row(
    422,
    false,
    'Registry does not name this wallet',
    'Set the agent wallet on the ERC-8004 registry first, or leave `erc8004` out.',
  ),
})
