export { type AssayClient, type AssayClientOptions, createAssayClient } from './client.ts'
export type { AssayResult } from './context.ts'
export { AssayError, type AssayErrorCode } from './errors.ts'
export { formatUsd, parseUsd } from './money.ts'
export {
  baseNetwork,
  baseSepoliaNetwork,
  type PayableNetwork,
  polygonAmoyNetwork,
  polygonNetwork,
  readDemoNetworks,
} from './networks.ts'
export type { PaymentOutcome } from './payment-outcome.ts'
export { type Offer, type PaymentRequired, parsePaymentRequired } from './payment-required.ts'
export { type BindingParts, bindingContentType, bindingNonce, bindingTag } from './request-binding.ts'
export type { Purchase } from './sign-payment.ts'
export { followDirectory, type KeySet, readDirectory, type TrustedKey } from './trusted-keys.ts'
export { type ExpectedReceipt, type Receipt, type ReceiptVerification, verifyReceipt } from './verify-receipt.ts'
export { type ReceivedResponse, type SentRequest, type Verification, verifyResponse } from './verify-response.ts'
