import { usageError } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'

/** What importing market data needs of the shop that sells it. */
export type MarketShop = typeof import('@assay/node/shops/matrix')
export const loadMarketShop = (): Promise<MarketShop> => import('@assay/node/shops/matrix').catch(explainMissing)

export type SourceId = MarketShop['sources'][number]['id']

export function sourcesOf({ sources }: MarketShop, given: readonly string[] | undefined): SourceId[] {
  const known = sources.map(({ id }) => id)
  for (const id of given ?? [])
    if (!known.some((one) => one === id))
      throw usageError(`--source: there is no source "${id}"`, `One of ${known.join(', ')}.`)
  return (given ?? []) as SourceId[]
}

/** What became of one file, in words. */
export function reportOf(name: string, outcome: { status: string } & Record<string, unknown>) {
  return { name, status: outcome.status, detail: detailOf(outcome) }
}

function detailOf(outcome: { status: string } & Record<string, unknown>): string {
  const { source, period, revision, rows, skipped } = outcome
  if (outcome.status === 'stored')
    return `${source} ${period}, revision ${revision}, ${rows} rows${leftOut(skipped as Record<string, number>)}`
  if (outcome.status === 'unchanged') return `${source} ${period}: these very bytes are held`
  if (outcome.status === 'refused') return `${outcome.code}: ${outcome.detail}`
  return String(outcome.detail ?? '')
}

function leftOut(skipped: Record<string, number>): string {
  const reasons = Object.entries(skipped).filter(([, rows]) => rows > 0)
  return reasons.length === 0 ? '' : `, left out: ${reasons.map(([why, rows]) => `${rows} ${why}`).join(', ')}`
}
