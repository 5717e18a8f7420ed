export { findMatched } from './find-matched.ts'
export { type MatchShopOptions, openMatchShop } from './open-match.ts'
export { tokenize } from './tokenize.ts'
