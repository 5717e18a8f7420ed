import type { Address } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import type { OptionDeps } from './deps.ts'
import { optionProblems } from './problems.ts'

/** Who may trade is the operator's to say: a list, its own rule, or in demo mode everybody. */
export async function requireEligible(deps: OptionDeps, wallet: Address, action: 'buy' | 'write'): Promise<void> {
  const { eligible } = deps.settings
  if (eligible === 'anyone' || eligible.has(wallet)) return
  if (await deps.isEligible?.(wallet, action)) return
  throw new Problem(optionProblems.options_not_eligible)
}
