export { createCdpFacilitator } from './cdp/cdp-facilitator.ts'
export { type ExactPayment, exactPayment } from './exact-payment.ts'
export type { FacilitatorChoice, FacilitatorKind, FacilitatorOption, FacilitatorPorts } from './facilitator-kind.ts'
export {
  chooseFacilitators,
  facilitatorChoices,
  facilitatorOptions,
  facilitatorVariables,
  findChoiceProblems,
  openFacilitators,
  optionOf,
  settlesItself,
} from './kinds.ts'
export type { LocalChain } from './local/local-facilitator.ts'
export { deleteHolders } from './ordered/payment-holders.ts'
export { recordRefusedPayers } from './record-refused-payers.ts'
export { defaultFacilitatorBudget, deleteBudgets } from './service/facilitator-budget.ts'
export {
  admitFacilitatorCaller,
  type FacilitatorCaller,
  type FacilitatorServiceDeps,
  settleForOthers,
  supportedForOthers,
  verifyForOthers,
} from './service/facilitator-service.ts'
export {
  type FacilitatorRequest,
  type FacilitatorSettleAnswer,
  type FacilitatorSupported,
  type FacilitatorVerifyAnswer,
  facilitatorRequestSchema,
  facilitatorSettleAnswerSchema,
  facilitatorSupportedSchema,
  facilitatorVerifyAnswerSchema,
} from './service/service-schemas.ts'
