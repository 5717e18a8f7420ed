import { ruleInput, type SourceRules, type SourceTerms } from '@assay/sdk'
import type { NodeIndex } from '../../node/node-index.ts'
import { askSigned } from '../../wallet/sign-and-pay.ts'
import type { Wallet } from '../../wallet/wallet-store.ts'

/** Replaces all rules of a site; signed by the wallet that is paid for it. */
export function setOwnTerms(
  index: NodeIndex,
  wallet: Wallet,
  url: string,
  { kept, added }: { kept: SourceTerms['rules']; added: SourceRules },
): Promise<SourceTerms> {
  return askSigned(index, wallet, url, { method: 'PUT', body: { rules: [...kept.map(ruleInput), ...added] } })
}
