export { findMatched } from './find-matched.ts'
export { type MatchShopOptions, matchMigrations, matchShop, openMatchShop } from './open-match.ts'
export { tokenize } from './tokenize.ts'
