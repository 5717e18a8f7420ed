/** What it takes to pay a seller and to check its answer, and nothing of a particular node. */
export {
  type AssayClient,
  type AssayClientOptions,
  type BuyOptions,
  createAssayClient,
  type QuoteOutcome,
} from './client.ts'
export type { AssayResult } from './context.ts'
export { AssayError, type AssayErrorCode } from './errors.ts'
export {
  baseNetwork,
  baseSepoliaNetwork,
  knownNetworks,
  type PayableNetwork,
  polygonAmoyNetwork,
  polygonNetwork,
} from './networks.ts'
export {
  choosePaymentMethod,
  type PaymentMethod,
  type PaymentMethodChoice,
  type PaymentMethodFacts,
  type PaymentMethodPolicy,
  paymentMethods,
} from './payment-methods/choose-payment-method.ts'
export type { PaymentOutcome } from './payment-outcome.ts'
export { type Offer, type PaymentRequired, parsePaymentRequired } from './payment-required.ts'
export type { OnProgress, Progress } from './progress.ts'
export type { AgreedTerms, Quote } from './quote.ts'
export type { Purchase } from './sign-payment.ts'
