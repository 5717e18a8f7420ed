/** What the owner of credit signs: who may draw on it at which node, for what, how much and until when. */
export const mandateTypes = {
  Mandate: [
    { name: 'owner', type: 'address' },
    { name: 'delegate', type: 'address' },
    { name: 'node', type: 'string' },
    { name: 'routes', type: 'string[]' },
    { name: 'capPerCall', type: 'uint256' },
    { name: 'capPerDay', type: 'uint256' },
    { name: 'capTotal', type: 'uint256' },
    { name: 'expiresAt', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const
