export { type Mandate, mandateId, mandateStatement, mandateTypes } from './mandate-statement.ts'
export { type MandateState, type MandateView, openMandates } from './store.ts'
