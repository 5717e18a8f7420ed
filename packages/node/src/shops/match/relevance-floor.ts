import type { Candidate } from './match-index.ts'

/** The best few decide whether a question is answered at all. */
const decidedBy = 10
const shortQuery = 3

/** Even a good page has fewer of the words of a long question: the required share falls with their number. */
const coveredMin = (terms: number) => Math.min(0.5, Math.max(0.1, 2.5 / terms))

/**
 * Candidates that answer, none of them where the best is about something else: nothing less is offered or charged for.
 * Measured by how much of what was asked is in the page, rare words counting more (bench/relevance).
 */
export function aboveFloor<Page extends Pick<Candidate, 'covered'>>(
  candidates: readonly Page[],
  terms: number,
): Page[] {
  const least = coveredMin(terms)
  if (!candidates.slice(0, decidedBy).some(({ covered }) => covered >= least)) return []
  const each = terms <= shortQuery ? least : least / 3
  return candidates.filter(({ covered }) => covered >= each)
}
