import { formatUsd, type Micro } from '@assay/protocol/money'
import { Problem } from '@assay/till/kernel/problem'
import type { Sql } from '@assay/till/store/database'
import { citationMicro, type PageAt, pagePrices } from '../../sources/index.ts'
import { findPayees } from '../creators/payee.ts'
import { attestationProblems } from '../problems.ts'

/** What stamping a citation of each page costs. The site that is paid sets the price; where one refuses, nothing is sold. */
export async function attestPrices(sql: Sql, pages: readonly PageAt[]): Promise<Micro[]> {
  const payees = await findPayees(sql, pages)
  const prices = await pagePrices(
    sql,
    pages.map((page, at) => ({ ...page, payee: payees[at]?.domain ?? page.domain })),
  )
  return prices.map((price, at) => {
    if (price.attestMicro !== undefined) return price.attestMicro
    throw new Problem(attestationProblems.citation_not_allowed, { detail: `${pages[at]?.url}: ${price.reason}.` })
  })
}

/** One stamp for several pages: the usual price, and what their creators ask beyond it. */
export const claimPrice = (prices: readonly Micro[]): Micro =>
  prices.reduce((sum, micro) => sum + micro - citationMicro, citationMicro)

/** Creators share the usual price equally, and each gets what it asked beyond. */
export const claimWeights = (prices: readonly Micro[]): bigint[] =>
  prices.map((micro) => citationMicro + BigInt(prices.length) * (micro - citationMicro))

/** A redirect must not lead around a price. */
export async function requirePriced(
  sql: Sql,
  asked: readonly PageAt[],
  served: readonly PageAt[],
  field: string,
): Promise<void> {
  const moved = served.flatMap((page, at) => (page.url === asked[at]?.url ? [] : [{ page, from: asked[at] as PageAt }]))
  if (moved.length === 0) return
  const due = await attestPrices(sql, [...moved.map(({ page }) => page), ...moved.map(({ from }) => from)])
  const dearer = moved.findIndex((_, at) => (due[at] as Micro) > (due[at + moved.length] as Micro))
  if (dearer < 0) return
  const problem = `leads to ${moved[dearer]?.page.url}, which costs ${formatUsd(due[dearer] as Micro)} USD: cite that address`
  throw new Problem('input_invalid', { detail: `${field} ${problem}.`, extra: { problems: [{ field, problem }] } })
}
