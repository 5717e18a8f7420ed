import { getPublicSuffix, parse } from 'tldts'

export type SuffixMatch = {
  /** The part under which others register: `co.uk`, `github.io`. */
  suffix: string
  /** One label more, or undefined when the name is itself a suffix. */
  registrable: string | undefined
}

// Private section included: user.github.io is not github.io. Names come here as checked A-labels.
const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false }

/** The algorithm of publicsuffix.org. Takes A-labels. */
export function matchSuffix(domain: string): SuffixMatch {
  // The parent of a wildcard (`*.ck`) has no rule itself, but the names below it belong to others all the same.
  const below = `below.${domain}`
  if (getPublicSuffix(below, options) === below) return { suffix: domain, registrable: undefined }
  const found = parse(domain, options)
  return { suffix: found.publicSuffix ?? domain, registrable: found.domain ?? undefined }
}
