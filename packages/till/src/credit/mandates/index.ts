export { mandateTypes } from '@assay/protocol/typed-data/mandate'
export { type Mandate, mandateId, mandateStatement } from './mandate-statement.ts'
export { type MandateState, type MandateView, openMandates } from './store.ts'
