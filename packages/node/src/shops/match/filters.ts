import type { Accepts } from './search-segment.ts'
import type { Segment } from './segment.ts'

/** What a page must be to be a candidate; absent means any. */
export type Filters = {
  /** Sites: these names and everything below them. */
  domains?: readonly string[]
  /** Registrable domains that are left out, with everything below them. */
  notUnder?: readonly string[]
  language?: string
  /** Short names, lower case. */
  licences?: readonly string[]
  types?: readonly string[]
  /** Days since 1970, both included. */
  sinceDay?: number
  untilDay?: number
  /** Least CiteScore of the domain. */
  minScore?: number
}

const acceptsAll: Accepts = () => true
const isUnder = (name: string, above: string) => name === above || name.endsWith(`.${above}`)

/** Names are compared once per segment, documents by number. */
export function createFilter(segment: Segment, filters: Filters, scores: ReadonlyMap<string, number>): Accepts {
  const { domains, notUnder, language, licences, types, sinceDay, untilDay, minScore } = filters
  if (Object.values(filters).every((filter) => filter === undefined)) return acceptsAll
  const byDomain =
    (domains ?? notUnder ?? minScore) === undefined
      ? undefined
      : segment.domains.map(
          (name) =>
            (domains?.some((above) => isUnder(name, above)) ?? true) &&
            (scores.get(name) ?? 0) >= (minScore ?? 0) &&
            notUnder?.some((above) => isUnder(name, above)) !== true,
        )
  const languageId = language === undefined ? undefined : segment.languages.indexOf(language)
  const byLicence =
    licences === undefined ? undefined : segment.licences.map((name) => licences.includes(name.toLowerCase()))
  const byType = types === undefined ? undefined : segment.types.map((name) => types.includes(name))
  return (doc) => {
    const day = segment.dayOf[doc] as number
    return (
      (byDomain === undefined || byDomain[segment.domainOf[doc] as number] === true) &&
      (languageId === undefined || segment.languageOf[doc] === languageId) &&
      (byLicence === undefined || byLicence[segment.licenceOf[doc] as number] === true) &&
      (byType === undefined || byType[segment.typeOf[doc] as number] === true) &&
      (sinceDay === undefined || day >= sinceDay) &&
      (untilDay === undefined || day <= untilDay)
    )
  }
}
