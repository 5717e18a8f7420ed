// What a seller uses. The node's own entry points are named after folders, and internal.ts.

export type { Interceptors, ReadinessCheck, SalePart, TillJob } from './compose/index.ts'
export type {
  CaptureOutcome,
  Draw,
  EntitlementPort,
  HeldCall,
  Hold,
  HoldEnd,
  HoldOutcome,
} from './contract/entitlement.ts'
export type { Facilitator } from './contract/facilitator.ts'
export type { AnswerContent, PaidCall, ReversalHook, ReversedPart, Sale, SaleHook } from './contract/paid-call.ts'
export type { Scheme } from './contract/scheme.ts'
export { createTill } from './create-till.ts'
export type { FacilitatorOption } from './facilitators/index.ts'
export * from './facilitators/list.ts'
export { ConfigError } from './kernel/config-error.ts'
export { Problem } from './kernel/problem.ts'
export { NotRefundable } from './refunds/not-refundable.ts'
export type { RefundRequest, RefundRequestOutcome } from './refunds/refund-payment.ts'
export type { ChannelPolicy } from './schemes/batch-settlement/index.ts'
export { refusal } from './selling/finite-answer.ts'
export type {
  RouteExample,
  SaleCall,
  SaleDeclaration,
  SaleEffect,
  SaleHandler,
  Schema,
  Unavailable,
} from './selling/index.ts'
export type { Tx } from './store/database.ts'
export type { SoldRoute, Till, WebCall } from './till.ts'
export type { AlarmEvent, RefundEvent, SaleEvent, TillEvents } from './till-events.ts'
export type { EmbeddedDatabase, NetworkOption, TillOptions } from './till-options.ts'
