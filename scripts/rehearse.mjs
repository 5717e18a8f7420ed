// npm run rehearse: an operator's first day in production mode; see docs/rehearsal.md.
import { runProgram } from './run-program.mjs'

runProgram('rehearse/main.ts')
