export type {
  AnswerContent,
  Attribution,
  EntitlementPort,
  Gate,
  GateOutcome,
  HoldOutcome,
  PaidCall,
  PaidRoute,
  PreparedAnswer,
  Sale,
  SaleHook,
} from './paid-call.ts'
