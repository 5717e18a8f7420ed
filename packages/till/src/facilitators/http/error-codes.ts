/** Reasons that say the payment was checked and not sent, in the words of the specification and of the SDKs. */
const definite = [
  'invalid_scheme',
  'unsupported_scheme',
  'invalid_network',
  'invalid_payload',
  'invalid_payment',
  'invalid_payment_requirements',
  'invalid_x402_version',
  'invalid_request',
  'insufficient_funds',
  'unsupported_payload_type',
  'unsupported_payment_flow',
  'unsupported_asset_transfer_method',
  'asset_not_deployed_contract',
  'account_blacklisted',
  'asset_paused',
  'eip6492_factory_not_allowed',
  'smart_wallet_deployment_failed',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_failed_to_parse_signature',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_authorization_value',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_nonce_already_used',
  'invalid_exact_evm_eip3009_not_supported',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_exact_evm_transaction_simulation_failed',
] as const

const definiteReasons: ReadonlySet<string> = new Set(definite)

/**
 * Left out on purpose, for money may have moved or may yet move: settlement_pending, unexpected_settle_error,
 * invalid_transaction_state, invalid_exact_evm_transaction_failed, invalid_exact_evm_transfer_event_mismatch, and every
 * word we do not know.
 */
export const isDefiniteRefusal = (reason: string): boolean => definiteReasons.has(reason)
