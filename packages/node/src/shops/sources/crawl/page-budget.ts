import type { SourceRow } from '../register/records.ts'

/** Pages of a domain that are kept: as many as the operator set for it, otherwise by the score, from half of what is usual to two and a half times. */
export function pageBudget(
  { pages_max, cite_score }: Pick<SourceRow, 'pages_max' | 'cite_score'>,
  usual: number,
): number {
  if (pages_max !== null) return pages_max
  return Math.max(1, Math.round(usual * (cite_score === null ? 1 : 0.5 + cite_score / 50)))
}

/** A page that changes at every visit is read up to eight times as often. */
const soonest = 8

/**
 * Until a page is read again, after a visit that found it changed or not. A page that is offered is asked for within
 * the usual time however seldom it changes: what its creator forbids meanwhile must be seen.
 */
export function nextVisitMs(lastMs: number | undefined, changed: boolean, defaultMs: number): number {
  const last = lastMs ?? defaultMs
  return changed ? Math.max(defaultMs / soonest, last / 2) : Math.min(defaultMs, last * 1.5)
}
