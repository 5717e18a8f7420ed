import type { Hex } from '@assay/protocol/bytes'

export type SettleRefusal = { reason: string; message: string }

const errorSelector = '0x08c379a0'

/** The errors of USDC, in the codes of x402. */
const meanings: readonly [RegExp, string, string][] = [
  [
    /used or cancell?ed/i,
    'invalid_exact_evm_nonce_already_used',
    'The nonce of this authorization is spent or cancelled.',
  ],
  [/is expired/i, 'invalid_exact_evm_payload_authorization_valid_before', 'The authorization has expired.'],
  [/not yet valid/i, 'invalid_exact_evm_payload_authorization_valid_after', 'The authorization is not valid yet.'],
  [/exceeds balance/i, 'insufficient_funds', 'The payer does not have this much USDC.'],
  [
    /blacklist/i,
    'account_blacklisted',
    'The issuer of USDC has blocked the payer or the recipient; no payment of this account can settle.',
  ],
  [/paused/i, 'asset_paused', 'The issuer of USDC has paused all transfers; try again later.'],
  [/signature/i, 'invalid_exact_evm_payload_signature', 'The signature is not the payer’s over this authorization.'],
]

export function explainRevert(data: Hex): SettleRefusal {
  const words = revertText(data)
  const known = words === undefined ? undefined : meanings.find(([pattern]) => pattern.test(words))
  if (known) return { reason: known[1], message: known[2] }
  const detail = words === undefined ? 'without a reason' : `: ${words.replace(/[^\x20-\x7e]/g, '?').slice(0, 120)}`
  return { reason: 'invalid_exact_evm_transaction_simulation_failed', message: `The transfer would fail ${detail}` }
}

/** The text of `Error(string)`; undefined for every other kind of revert data. */
export function revertText(data: Hex): string | undefined {
  if (!data.startsWith(errorSelector)) return undefined
  const bytes = Buffer.from(data.slice(10), 'hex')
  if (bytes.byteLength < 64) return undefined
  const length = bytes.readUInt32BE(60)
  return length <= bytes.byteLength - 64 ? bytes.subarray(64, 64 + length).toString('utf8') : undefined
}
