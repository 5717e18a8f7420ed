// npm run promises: every promise with the command that shows its figure; see docs/promises.md.
import { runProgram } from './run-program.mjs'

runProgram('test/promises/main.ts')
