import { toHex } from '@assay/protocol/bytes'
import type { ChainPort } from '../../chain/index.ts'
import type { Terms } from '../../contract/terms.ts'
import { fromHex } from '../../kernel/bytes.ts'
import { hashTransferAuthorization } from '../../kernel/eip3009.ts'
import { recoverAddress } from '../../kernel/secp256k1.ts'
import type { DecodedPayment } from './decode-payment.ts'

export type WindowOutcome = { status: 'valid' } | Invalid

export type SignatureOutcome =
  /** Signed by the key of the address itself, or vouched for by a contract at it. */
  { status: 'valid'; by: 'key' | 'contract'; digest: Buffer } | Invalid | { status: 'could_not_check'; reason: string }

type Invalid = { status: 'invalid'; reason: string; detail: string }

/** Time a settlement needs before the authorization may run out. */
export const settleMarginSeconds = 12
const windowSlackSeconds = 30

const invalid = (reason: string, detail: string): Invalid => ({ status: 'invalid', reason, detail })

export function checkWindow(payment: DecodedPayment, terms: Terms, nowSeconds: number): WindowOutcome {
  const { validAfter, validBefore } = payment.authorization
  if (validAfter > BigInt(nowSeconds))
    return invalid('invalid_exact_evm_payload_authorization_valid_after', 'The authorization is not valid yet.')
  if (validBefore < BigInt(nowSeconds + settleMarginSeconds))
    return invalid(
      'invalid_exact_evm_payload_authorization_valid_before',
      `The authorization must be valid for at least ${settleMarginSeconds} s more.`,
    )
  // Counted from now, not from validAfter: stock clients sign validAfter 0 or ten minutes back.
  if (validBefore > BigInt(nowSeconds + terms.maxTimeoutSeconds + windowSlackSeconds))
    return invalid(
      'invalid_exact_evm_payload_authorization_valid_before',
      `The authorization must run out within ${terms.maxTimeoutSeconds} s.`,
    )
  return { status: 'valid' }
}

/**
 * An ordinary wallet is checked here without any I/O; only what does not recover asks the chain for a contract wallet.
 * Whether the payer has code, and so decides for itself, is read with its balance before the claim.
 */
export async function checkSignature(
  payment: DecodedPayment,
  domainSeparator: Uint8Array,
  chain: ChainPort,
): Promise<SignatureOutcome> {
  const digest = hashTransferAuthorization(domainSeparator, payment.authorization)
  const signature = fromHex(payment.signature)
  if (signature.byteLength === 65 && recoverAddress(digest, signature) === payment.authorization.from)
    return { status: 'valid', by: 'key', digest }
  const verdict = await chain.checkContractSignature(payment.authorization.from, toHex(digest), payment.signature)
  if (verdict === 'valid') return { status: 'valid', by: 'contract', digest }
  if (verdict === 'could_not_check')
    return { status: 'could_not_check', reason: 'the payer is not a plain wallet and its chain could not be read' }
  return invalid('invalid_exact_evm_payload_signature', 'The signature is not the payer’s over this authorization.')
}
