import { isHex } from '@assay/protocol/bytes'
import type { ExpectedTransfer } from '../../chain/index.ts'
import type { ClaimedTransfer, SchemeEvidence, SchemeReasons } from '../../contract/scheme.ts'

const expected = ({ payer, payTo, amountMicro, paymentKey }: ClaimedTransfer): ExpectedTransfer => ({
  payer,
  payTo,
  amountMicro,
  nonce: paymentKey,
})

/** The token marks a nonce as used with the transfer, in one call, and tells of both in its logs. */
export const exactEvidence: SchemeEvidence = {
  isUsed: (chain, { payer, paymentKey }, at) => chain.authorizationUsed(payer, paymentKey, at),
  byTransaction: (chain, claim, transaction) => chain.settlementByTransaction(transaction, expected(claim)),
  byKey: (chain, claim, fromBlock) => chain.settlementByNonce(expected(claim), fromBlock),
  useOf: (chain, { payer, paymentKey }, fromBlock) => chain.nonceUse(payer, paymentKey, fromBlock),
  keyOf: async ({ paymentKey }) => (isHex(paymentKey, 32) ? paymentKey : undefined),
}

export const exactReasons: SchemeReasons = {
  reused: 'payment_nonce_reused',
  usedBefore: 'invalid_exact_evm_nonce_already_used',
  usedUp: 'The nonce is used up.',
  usedOtherwise: 'The nonce was used for something else.',
  usedForDust: 'The nonce was used for a transfer of less than 0.001 USDC, which is not credited.',
  paidToOthers: {
    reason: 'nonce_used_elsewhere',
    detail: 'The nonce was used for a transfer that brought no money here.',
  },
  canceled: { reason: 'authorization_canceled', detail: 'The payer cancelled the authorization.' },
  expired: 'authorization_expired',
}
