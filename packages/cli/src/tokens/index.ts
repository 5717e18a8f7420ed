import type { AddCommand } from '../command-context.ts'
import { addCheck } from './check.ts'
import { addProve } from './prove.ts'
import { addReport } from './report.ts'

/** Commands about B20 tokens; `assay verify` knows their reports too. */
export const addTokens: AddCommand = (program, context) => {
  addCheck(program, context)
  addReport(program, context)
  addProve(program, context)
}
