// npm run simulate: the whole node in a simulated world; see docs/simulation.md.
import { runProgram } from './run-program.mjs'

// What a step leaves behind is much and lives for a moment: young objects get more room before they are looked through.
runProgram('test/simulation/main.ts', ['--max-semi-space-size=64'])
