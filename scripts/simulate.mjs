// npm run simulate: the whole node in a simulated world; see docs/simulation.md.
import { runProgram } from './run-program.mjs'

runProgram('test/simulation/main.ts')
