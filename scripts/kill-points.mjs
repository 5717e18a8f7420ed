// npm run kill-points: processes and the database server killed in the middle of money; see docs/simulation.md.
import { runProgram } from './run-program.mjs'

runProgram('test/kill-points/main.ts')
