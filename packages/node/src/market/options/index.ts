export type { OutboundSetup } from './ask-eligibility.ts'
export { type OptionsOpening, openOptions } from './open-options.ts'
export { legalAcknowledgement } from './settings.ts'
export { payoutPurpose } from './withdraw-offer.ts'
