export { type CarelessSeller, startCarelessSeller } from './careless-seller.ts'
export { foundBy, holes } from './holes.ts'
export { type HoleVerdict, judgeHole, matrixText, openLane, type SelfTestLane, unmatched } from './self-test.ts'
