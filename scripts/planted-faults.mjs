// npm run faults: plants one fault after the other and requires its proof to fail; see docs/mutation.md.
import { runProgram } from './run-program.mjs'

runProgram('test/planted/main.ts')
