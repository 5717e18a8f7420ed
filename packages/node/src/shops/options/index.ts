export type { OutboundSetup } from './ask-eligibility.ts'
export { type OptionsOpening, openOptions } from './open-options.ts'
export { payoutPurpose } from './set-off-debts.ts'
export { legalAcknowledgement } from './settings.ts'
