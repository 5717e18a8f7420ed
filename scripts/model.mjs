// npm run model: every interleaving of the transitions of a payment, within the full bounds; see docs/model.md.
import { runProgram } from './run-program.mjs'

runProgram('test/model/main.ts', ['--max-old-space-size=3500'])
