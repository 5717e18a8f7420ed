export { mandateTypes } from '@assay/protocol/typed-data/mandate'
export {
  type Bond,
  type CreditAccount,
  type CreditOn,
  type CreditRefund,
  lockBond,
  readBonds,
  readCredit,
  refundCredit,
  releaseBond,
  type TopUp,
  topUpCredit,
} from './credit.ts'
export type { CreditOptions } from './credit-state.ts'
export {
  createMandate,
  listMandates,
  type Mandate,
  type MandateTerms,
  presentMandate,
  revokeMandate,
  type SignedMandate,
  signMandate,
} from './mandates.ts'
