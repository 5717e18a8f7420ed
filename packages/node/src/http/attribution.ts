import { type Address, parseAddress } from '@assay/protocol/address'
import { isCoveredOrUnsigned } from '@assay/till/proofs'
import type { AttributionReader, FieldProblem } from '@assay/till/selling'

export const affiliateHeader = 'x-affiliate-id'

/**
 * Who brought the buyer, from `ref`, `aff` and X-Affiliate-ID. Two differing codes are refused: guessing would pay the
 * wrong one. A signed request always covers its query; a header it does not cover is ignored.
 */
export const attributionReader: AttributionReader = {
  fields: new Set(['ref', 'aff']),
  read: (given, headers, problems) => {
    const header = isCoveredOrUnsigned(headers, affiliateHeader) ? headers.get(affiliateHeader) : undefined
    if (given.length === 0 && header === undefined) return {}
    const named = (field: string) => given.flatMap(([name, value]) => (name === field ? [value] : []))
    const ref = oneWallet('query.ref', named('ref'), problems)
    const aff = oneWallet('query.aff', header === undefined ? named('aff') : [...named('aff'), header], problems)
    return { ...(ref ? { ref } : {}), ...(aff ? { aff } : {}) }
  },
}

function oneWallet(field: string, texts: readonly string[], problems: FieldProblem[]): Address | undefined {
  if (texts.length === 0) return undefined
  const wallets = new Set(texts.map(parseAddress))
  if (wallets.has(undefined)) problems.push({ field, problem: 'is not a wallet address (0x and 40 hex digits)' })
  else if (wallets.size > 1) problems.push({ field, problem: 'names two different wallets; send one' })
  return problems.some((problem) => problem.field === field) ? undefined : [...wallets][0]
}
