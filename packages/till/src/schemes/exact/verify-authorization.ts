import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { ChainPort } from '../../chain/index.ts'
import type { CouldNotCheck, FundsOutcome, Invalid, SignatureOutcome, VerifiedPayment } from '../../contract/scheme.ts'
import type { Terms } from '../../contract/terms.ts'
import { fromHex } from '../../kernel/bytes.ts'
import { hashTransferAuthorization } from '../../kernel/eip3009.ts'
import { recoverAddress } from '../../kernel/secp256k1.ts'
import type { ExactSchemePayment, ExactSigned } from './decode-exact.ts'

/** Time a settlement needs before the authorization may run out. */
export const settleMarginSeconds = 12
export const windowSlackSeconds = 30

const tooLate = 'invalid_exact_evm_payload_authorization_valid_before'
const badSignature = 'invalid_exact_evm_payload_signature'

const invalid = (reason: string, detail: string): Invalid => ({ status: 'invalid', reason, detail })

export function checkWindow(
  { signed: { authorization } }: Pick<ExactSchemePayment, 'signed'>,
  terms: Terms,
  nowSeconds: number,
): { status: 'valid' } | Invalid {
  const { validAfter, validBefore } = authorization
  if (validAfter > BigInt(nowSeconds))
    return invalid('invalid_exact_evm_payload_authorization_valid_after', 'The authorization is not valid yet.')
  if (validBefore < BigInt(nowSeconds + settleMarginSeconds))
    return invalid(tooLate, `The authorization must be valid for at least ${settleMarginSeconds} s more.`)
  // Counted from now, not from validAfter: stock clients sign validAfter 0 or ten minutes back.
  if (validBefore > BigInt(nowSeconds + terms.maxTimeoutSeconds + windowSlackSeconds))
    return invalid(tooLate, `The authorization must run out within ${terms.maxTimeoutSeconds} s.`)
  return { status: 'valid' }
}

/**
 * An ordinary wallet is checked here without any I/O; only what does not recover asks the chain for a contract wallet.
 * Whether the payer has code, and so decides for itself, is read with its balance before the claim.
 */
export async function checkSignature(
  { payer, signed }: Pick<ExactSchemePayment, 'payer' | 'signed'>,
  domainSeparator: Uint8Array,
  chain: ChainPort,
): Promise<SignatureOutcome> {
  const digest = hashTransferAuthorization(domainSeparator, signed.authorization)
  return checkDigest(payer, signed.signature, digest, chain, badSignature)
}

/** `reason` names a signature that is not the payer's. */
export async function checkDigest(
  payer: Address,
  signed: Hex,
  digest: Buffer,
  chain: ChainPort,
  reason: string,
): Promise<SignatureOutcome> {
  const signature = fromHex(signed)
  if (signature.byteLength === 65 && recoverAddress(digest, signature) === payer)
    return { status: 'valid', by: 'key', digest }
  const verdict = await chain.checkContractSignature(payer, toHex(digest), signed)
  if (verdict === 'valid') return { status: 'valid', by: 'contract', digest }
  if (verdict === 'could_not_check')
    return { status: 'could_not_check', reason: 'the payer is not a plain wallet and its chain could not be read' }
  return invalid(reason, 'The signature is not the payer’s over this authorization.')
}

type Verified = VerifiedPayment<ExactSigned>

/** One endpoint is enough to go on with; turning a buyer away takes enough of them that agree. */
export async function readFunds(verified: Verified, chain: ChainPort): Promise<FundsOutcome> {
  const { payment, terms } = verified
  const { payer, paymentKey } = payment
  const status = await chain.payerStatus(payer, paymentKey)
  // The token asks the code of the account (EIP-7702), so a signature by its key alone says nothing.
  if (verified.payerIsKey && status.hasCode) {
    const refusal = await askContract(
      verified,
      chain,
      badSignature,
      'The payer has code, and that code does not accept the signature.',
    )
    if (refusal) return refusal
  }
  const tooLittle = status.balanceMicro < terms.amountMicro
  return {
    status: 'ok',
    balanceMicro: tooLittle ? await chain.usdcBalance(payer, (await chain.head()).number) : status.balanceMicro,
    used: status.nonceUsed && (await chain.authorizationUsed(payer, paymentKey, 'latest')),
    payerIsKey: verified.payerIsKey && !status.hasCode,
  }
}

type CheckedAgain = { status: 'valid' } | (Invalid & { released: string }) | CouldNotCheck

/** An account with code decides for itself, and may have changed its mind while the answer was prepared. */
export async function checkAgain(verified: Verified, chain: ChainPort, nowSeconds: number): Promise<CheckedAgain> {
  if (verified.payment.validBefore < BigInt(nowSeconds + settleMarginSeconds))
    return {
      ...invalid(tooLate, 'The authorization ran out while the answer was prepared; nothing was taken.'),
      released: 'authorization_too_short',
    }
  return askPayerAgain(verified, chain, badSignature)
}

/** Whether the contract of the payer still accepts its signature; one by a key stays valid. */
export async function askPayerAgain(
  verified: VerifiedPayment<{ signature: Hex }>,
  chain: ChainPort,
  reason: string,
): Promise<CheckedAgain> {
  if (verified.payerIsKey) return { status: 'valid' }
  const detail = 'The payer’s contract no longer accepts the signature; nothing was taken.'
  const refusal = await askContract(verified, chain, reason, detail)
  if (refusal?.status === 'invalid') return { ...refusal, released: reason }
  return refusal ?? { status: 'valid' }
}

export async function askContract(
  { payment, signedDigest }: VerifiedPayment<{ signature: Hex }>,
  chain: ChainPort,
  reason: string,
  detail: string,
): Promise<Invalid | CouldNotCheck | undefined> {
  const verdict = await chain.checkContractSignature(payment.payer, toHex(signedDigest), payment.signed.signature)
  if (verdict === 'valid') return undefined
  if (verdict === 'could_not_check')
    return { status: 'could_not_check', reason: 'The payer’s contract could not be read.' }
  return invalid(reason, detail)
}
