export { matchMigrations, matchShop } from './open-match.ts'
export { tokenize } from './tokenize.ts'
