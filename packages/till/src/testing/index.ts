export type { Buyer, Send } from './buyer.ts'
export type { FacilitatorFaults } from './facilitator-faults.ts'
export type { MovableClock } from './movable-clock.ts'
export { type TestTill, type TestTillOptions, testNetwork, testTill } from './test-till.ts'
