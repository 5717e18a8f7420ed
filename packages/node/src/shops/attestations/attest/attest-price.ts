import { formatUsd, type Micro } from '@assay/protocol/money'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import type { Sql } from '@assay/till/store/database'
import { createBatcher } from '@assay/till/store/group-commit'
import { citationMicro, decidePrices, type PageAt, siteTerms } from '../../sources/index.ts'
import { type CitedHost, findPayees } from '../creators/payee.ts'
import { attestationProblems } from '../problems.ts'
import type { TermsChanges } from './keep-terms.ts'

export type HostTerms = Awaited<ReturnType<typeof siteTerms>>[number]
export type ReadTerms = (hosts: readonly CitedHost[]) => Promise<HostTerms[]>

/** The terms in force, from the database. */
export const termsIn =
  (sql: Sql): ReadTerms =>
  async (hosts) => {
    const payees = await findPayees(sql, hosts)
    return siteTerms(
      sql,
      hosts.map(({ domain }, at) => ({ domain, payee: payees[at]?.domain ?? domain })),
    )
  }

/** What is asked for while others are read becomes one read. Each is of after it was asked for. */
export function readTogether(read: ReadTerms): ReadTerms {
  const reads = createBatcher<readonly CitedHost[], HostTerms[]>({
    maxItems: 128,
    maxConcurrent: 2,
    run: async (asked) => {
      const terms = await read(asked.flat())
      return asked.map(({ length }) => terms.splice(0, length))
    },
  })
  return (hosts) => reads.submit(hosts)
}

/** What stamping a citation of each page costs. The site that is paid sets the price; where one refuses, nothing is sold. */
export async function attestPrices(read: ReadTerms, pages: readonly PageAt[]): Promise<Micro[]> {
  const terms = await read(pages)
  return pages.map(({ url }, at) => {
    const price = decidePrices(url, terms[at] as HostTerms)
    if (price.attestMicro !== undefined) return price.attestMicro
    throw new Problem(attestationProblems.citation_not_allowed, { detail: `${url}: ${price.reason}.` })
  })
}

/** One stamp for several pages: the usual price, and what their creators ask beyond it. */
export const claimPrice = (prices: readonly Micro[]): Micro =>
  prices.reduce((sum, micro) => sum + micro - citationMicro, citationMicro)

/** Creators share the usual price equally, and each gets what it asked beyond. */
export const claimWeights = (prices: readonly Micro[]): bigint[] =>
  prices.map((micro) => citationMicro + BigInt(prices.length) * (micro - citationMicro))

/** The quote may be seconds old: what creators ask now must not be more. */
export function requireQuoted(
  { termsChanges }: { termsChanges: TermsChanges },
  prices: readonly Micro[],
  quotedMicro: Micro,
): void {
  const dueMicro = claimPrice(prices)
  if (dueMicro <= quotedMicro) return
  // Another process set them: the next quote must not repeat the old price.
  termsChanges.count += 1
  throw new Problem(attestationProblems.citation_price_moved, {
    detail: `It costs ${formatUsd(dueMicro)} USD now and was quoted at ${formatUsd(quotedMicro)} USD.`,
    extra: { price_micro: dueMicro.toString() },
  })
}

/** A redirect must not lead around a price. */
export async function requirePriced(
  read: ReadTerms,
  asked: readonly (PageAt & { micro: Micro })[],
  served: readonly PageAt[],
  field: string,
): Promise<void> {
  const moved = served.flatMap((page, at) => {
    const { url, domain, micro } = asked[at] as PageAt & { micro: Micro }
    return page.url === url && page.domain === domain ? [] : [{ page, paid: micro }]
  })
  if (moved.length === 0) return
  const due = await attestPrices(
    read,
    moved.map(({ page }) => page),
  )
  const dearer = moved.findIndex(({ paid }, at) => (due[at] as Micro) > paid)
  if (dearer < 0) return
  const problem = `leads to ${moved[dearer]?.page.url}, which costs ${formatUsd(due[dearer] as Micro)} USD: cite that address`
  throw fieldProblem(field, problem)
}
