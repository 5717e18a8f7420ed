export { releaseDue } from './release-bond.ts'
export { type SlashOrder, type SlashOutcome, slashBond } from './slash-bond.ts'
export { type ActiveBond, activeBonds, type Bond, type BondState } from './store.ts'
