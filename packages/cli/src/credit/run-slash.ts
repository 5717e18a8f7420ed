import { formatUsd, parseUsd } from '@assay/sdk'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'
import type { Operator } from '../operator/connect.ts'
import { printResult } from '../output.ts'

export type SlashOptions = { ruling: string; reason: string; usd?: string; yes?: boolean; json?: boolean }

const whyTexts = {
  no_such_bond: 'there is no such bond',
  ended: 'it was released or taken before; nothing is left of it',
  not_upheld:
    'the ruling is not the attestation of a citation that was found to be wash-traded by this wallet or its cluster',
  more_than_left: 'that is more than is left of it',
  slashed_before: 'this ruling has taken from this bond before',
} as const

export async function runSlash(
  { terminal }: CommandContext,
  { node, database, actor }: Operator,
  bondId: string,
  options: SlashOptions,
): Promise<void> {
  const micro = options.usd === undefined ? undefined : parseUsd(options.usd)
  if (options.usd !== undefined && micro === undefined) throw usageError(`--usd: not decimal USD: ${options.usd}`)
  for (const name of ['ruling', 'reason'] as const)
    if (options[name].trim() === '') throw usageError(`--${name} must say something`)
  if (!options.yes && terminal.interactive && !(await terminal.confirm(`Take ${bondId} for ${options.ruling}?`)))
    throw new CliError(exitCodes.refused, 'not_confirmed', 'not confirmed; nothing was changed')
  const order = {
    bondId,
    ruling: options.ruling.trim(),
    reason: options.reason.trim(),
    by: actor,
    nowMs: node.systemClock.nowMs(),
    ...(micro === undefined ? {} : { micro }),
  }
  const { isUpheldAgainst } = await import('@assay/node/shops/attestations').catch(explainMissing)
  const outcome = await node.slashBond(database, order, isUpheldAgainst)
  if (outcome.status === 'refused') throw new CliError(exitCodes.refused, outcome.why, whyTexts[outcome.why])
  const { bond } = outcome
  const document = {
    bond: bondId,
    wallet: bond.wallet,
    network: bond.network,
    taken_micro: outcome.micro,
    left_micro: bond.micro - bond.slashedMicro,
    state: bond.state,
  }
  printResult(
    terminal,
    options.json,
    document,
    () => `took ${formatUsd(outcome.micro)} USD of ${bondId}; ${formatUsd(bond.micro - bond.slashedMicro)} left`,
  )
}
