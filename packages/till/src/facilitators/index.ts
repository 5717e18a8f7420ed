export { withBreaker } from './breaker.ts'
export { type CdpFacilitatorOptions, cdpBaseUrl, createCdpFacilitator } from './cdp-facilitator.ts'
export { type CdpKey, createCdpJwt, readCdpKey } from './cdp-jwt.ts'
export { type ExactPayment, exactPayment } from './exact-payment.ts'
export { defaultFacilitatorBudget, type FacilitatorBudget, forgetBudgets } from './facilitator-budget.ts'
export {
  admitFacilitatorCaller,
  type FacilitatorCaller,
  type FacilitatorServiceDeps,
  settleForOthers,
  supportedForOthers,
  verifyForOthers,
} from './facilitator-service.ts'
export { type HttpExchange, nodeHttpExchange } from './http-exchange.ts'
export { createHttpFacilitator, FacilitatorConfigError, type HttpFacilitatorOptions } from './http-facilitator.ts'
export {
  createLocalFacilitator,
  type LocalChain,
  type LocalFacilitator,
  type LocalFacilitatorOptions,
} from './local-facilitator.ts'
export { defaultGasLimits, type GasLimits } from './plan-settlement.ts'
export {
  type FacilitatorRequest,
  type FacilitatorSettleAnswer,
  type FacilitatorSupported,
  type FacilitatorVerifyAnswer,
  facilitatorRequestSchema,
  facilitatorSettleAnswerSchema,
  facilitatorSupportedSchema,
  facilitatorVerifyAnswerSchema,
} from './service-schemas.ts'
export { defaultQueueLimits, type QueueLimits } from './settlement-queue.ts'
