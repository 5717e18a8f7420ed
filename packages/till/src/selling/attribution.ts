import { type Address, parseAddress } from '@assay/protocol/address'
import type { Attribution } from '../contract/paid-call.ts'
import { isCoveredOrUnsigned } from '../proofs/index.ts'
import type { FieldProblem, ReadQuery } from './query.ts'

const affiliateHeader = 'x-affiliate-id'

/**
 * Who brought the buyer, from `ref`, `aff` and X-Affiliate-ID. Two differing codes are refused: guessing would pay the
 * wrong one. A signed request always covers its query; a header it does not cover is ignored.
 */
export function readAttribution(
  given: ReadQuery['attribution'],
  headers: ReadonlyMap<string, string>,
  problems: FieldProblem[],
): Attribution {
  const header = isCoveredOrUnsigned(headers, affiliateHeader) ? headers.get(affiliateHeader) : undefined
  const ref = oneWallet('query.ref', given.ref, problems)
  const aff = oneWallet('query.aff', header === undefined ? given.aff : [...given.aff, header], problems)
  return { ...(ref ? { ref } : {}), ...(aff ? { aff } : {}) }
}

function oneWallet(field: string, texts: readonly string[], problems: FieldProblem[]): Address | undefined {
  if (texts.length === 0) return undefined
  const wallets = new Set(texts.map(parseAddress))
  if (wallets.has(undefined)) problems.push({ field, problem: 'is not a wallet address (0x and 40 hex digits)' })
  else if (wallets.size > 1) problems.push({ field, problem: 'names two different wallets; send one' })
  return problems.some((problem) => problem.field === field) ? undefined : [...wallets][0]
}
