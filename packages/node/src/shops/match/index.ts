export { findMatched } from './find-matched.ts'
