import { isNearCopy, parseSketch, type Sketch } from '../sources/page/index.ts'
import type { IndexedPage } from '../sources/pages/index.ts'

type Placed = { page: IndexedPage }

/**
 * One page for each text, best first. Pages that say the same (by digest, or nearly), that name the same canonical
 * address, or that are translations of each other by their own word take one place: that of the best among them.
 */
export function groupCopies<Page extends Placed>(ranked: readonly Page[]): Page[] {
  const sketches = new Map<Placed, Sketch | undefined>(ranked.map((one) => [one, parseSketch(one.page.sketch)]))
  const isCopy = (one: Placed, other: Placed) => {
    const [sketch, known] = [sketches.get(one), sketches.get(other)]
    return (sketch && known && isNearCopy(sketch, known)) || sameText(one.page, other.page)
  }
  const groups: Page[][] = []
  for (const one of ranked) {
    const group = groups.find((known) => known.some((other) => isCopy(one, other)))
    if (group) group.push(one)
    else groups.push([one])
  }
  return groups.map((group) => group.reduce((best, one) => (isBefore(one.page, best.page, group) ? one : best)))
}

function sameText(one: IndexedPage, other: IndexedPage): boolean {
  if (one.textSha256 === other.textSha256) return true
  // A page speaks for its own site only: a canonical address elsewhere, or a translation that does not say so too, may be anybody's.
  if (one.registrable !== other.registrable) return false
  return one.canonical === other.canonical || (one.alternates.includes(other.url) && other.alternates.includes(one.url))
}

/** The one that the others name comes first, then the better source, then the one that was read first. */
function isBefore(one: IndexedPage, other: IndexedPage, group: readonly Placed[]): boolean {
  const named = (page: IndexedPage) =>
    group.some(({ page: copy }) => copy !== page && copy.namedCanonical === page.url) ? 1 : 0
  const translated = one.textSha256 !== other.textSha256 && one.alternates.includes(other.url)
  // Of translations the one that answers best stays.
  if (translated) return false
  return (
    (named(one) - named(other) ||
      (one.citeScore ?? 0) - (other.citeScore ?? 0) ||
      other.firstReadAt.getTime() - one.firstReadAt.getTime()) > 0
  )
}
