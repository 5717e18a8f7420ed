export { type CarelessSeller, startCarelessSeller } from './careless-seller.ts'
export { foundBy, holes } from './holes.ts'
export {
  casesTouched,
  type HoleVerdict,
  judgeCorrect,
  judgeHole,
  matrixText,
  openLane,
  rowText,
  type SelfTestLane,
  type Touched,
  unmatched,
} from './self-test.ts'
