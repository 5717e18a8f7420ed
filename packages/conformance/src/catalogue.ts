import type { Case } from './case.ts'
import { channelCases, channelFailureCases } from './cases/channels.ts'
import { cutCases } from './cases/cut.ts'
import { evidenceCases, retentionCase } from './cases/evidence.ts'
import { failureCases, failureModes } from './cases/failure.ts'
import { mppCases, mppExpiredCase, mppFailureCases } from './cases/mpp.ts'
import { onceCases } from './cases/once.ts'
import { permit2Cases, permit2FailureCases } from './cases/permit2.ts'
import { protocolCases } from './cases/protocol.ts'
import { quotedCases } from './cases/quoted.ts'

/**
 * In the order in which they are run: after the failures a seller may rightly wait for the chain before it sells again, and
 * those that come back after a minute are the last.
 */
export const catalogue: readonly Case[] = [
  ...protocolCases,
  ...onceCases,
  ...quotedCases,
  ...evidenceCases,
  ...[...permit2Cases, ...permit2FailureCases],
  ...[...channelCases, ...channelFailureCases],
  ...[...failureModes, ...cutCases],
  // By now the seller has got over the failures, and
  // the challenges that were taken at the start are short enough to be paid.
  ...[...mppCases, ...mppFailureCases],
  ...failureCases,
  ...[mppExpiredCase, retentionCase],
]
