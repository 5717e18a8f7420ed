export { type FaultySeller, startFaultySeller } from './faulty-seller.ts'
export { foundBy, mistakes } from './mistakes.ts'
export {
  casesTouched,
  checkCorrect,
  checkMistake,
  type MistakeResult,
  matrixText,
  openSetup,
  rowText,
  type SelfTestSetup,
  type Touched,
  unmatched,
} from './self-test.ts'
