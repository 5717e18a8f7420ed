import type { Case } from './case.ts'
import { evidenceCases } from './cases/evidence.ts'
import { failureCases } from './cases/failure.ts'
import { onceCases } from './cases/once.ts'
import { protocolCases } from './cases/protocol.ts'
import { quotedCases } from './cases/quoted.ts'

/** In the order in which they are run: after the failures a seller may rightly wait for the chain before it sells again. */
export const catalogue: readonly Case[] = [
  ...protocolCases,
  ...onceCases,
  ...quotedCases,
  ...evidenceCases,
  ...failureCases,
]
