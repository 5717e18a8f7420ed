export {
  connectFacilitator,
  type FacilitatorControl,
  type FacilitatorState,
  type Settlement,
} from './control.ts'
export { type FacilitatorFault, facilitatorFaults, type HostilePorts, hostileSettle, type Settled } from './faults.ts'
export { type FacilitatorOptions, type RunningFacilitator, serveFacilitator } from './serve-facilitator.ts'
export { startTestFacilitator, type TestFacilitator, type TestFacilitatorOptions } from './test-facilitator.ts'
