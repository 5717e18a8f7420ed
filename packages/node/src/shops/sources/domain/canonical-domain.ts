import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { findHomograph, type Homograph } from './homograph.ts'
import { matchSuffix } from './public-suffix.ts'

export type CanonicalDomain = {
  /** A-labels, lower case, no trailing dot: the one key of a source. */
  domain: string
  /** For people: Unicode where it cannot be mistaken, punycode otherwise. */
  display: string
  /** The domain somebody registered; scores of trust and crawl budgets are per registrable domain. */
  registrable: string
  homograph: Homograph | undefined
}

export type DomainProblem =
  | 'not_a_domain'
  | 'ip_address'
  | 'public_suffix'
  | 'reserved_name'
  | 'own_domain'
  | 'too_long'

export type DomainOutcome = ({ ok: true } & CanonicalDomain) | { ok: false; problem: DomainProblem; detail: string }

export type DomainRules = {
  /** Hosts of this node. */
  ownHosts: ReadonlySet<string>
  /** Names under `.test` that the demo serves. */
  demoHosts: { has(host: string): boolean }
}

const ldh = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/
const reserved = /(?:^|\.)(?:localhost|local|internal|test|example|invalid|onion|alt|lan|home|corp|arpa)$/

/** One spelling for each domain, whatever case, dot, script or encoding it came in. */
export function canonicalDomain(text: string, rules: DomainRules): DomainOutcome {
  const typed = text.trim().replace(/[.\u3002\uff0e\uff61]$/, '')
  if (typed.length > 1_000) return refuse('too_long', 'A domain has at most 253 characters.')
  if (/[/?#@:\\[\]\s%]/.test(typed))
    return isIP(typed.replace(/^\[|\]$/g, '')) !== 0
      ? refuse('ip_address', 'Register a domain name, not an IP address.')
      : refuse('not_a_domain', 'Send the bare domain such as example.com, without scheme, port, path or spaces.')
  // The URL parser reads numbers as IPv4 in all their spellings; the IDNA functions alone would let them pass.
  const host = URL.canParse(`http://${typed}/`) ? new URL(`http://${typed}/`).hostname : ''
  if (isIP(host) !== 0) return refuse('ip_address', 'Register a domain name, not an IP address.')
  const domain = domainToASCII(typed)
  if (domain === '' || domain !== host || !ldh.test(domain)) return reservedOrMalformed(host || typed.toLowerCase())
  if (domain.split('.').some((label) => label.slice(2, 4) === '--' && !label.startsWith('xn--')))
    return refuse('not_a_domain', 'A label of this name has two hyphens in third place, which is reserved.')
  const decoded = domainToUnicode(domain)
  // Later versions of Node leave what is no punycode as it is.
  if (domainToASCII(decoded) !== domain || decoded.split('.').some((label) => label.startsWith('xn--')))
    return refuse('not_a_domain', 'The punycode of this name does not decode to itself.')
  return admitted(domain, rules)
}

function admitted(domain: string, rules: DomainRules): DomainOutcome {
  if ([...rules.ownHosts].some((own) => domain === own || domain.endsWith(`.${own}`)))
    return refuse('own_domain', 'This is a domain of the node itself.')
  if (reserved.test(domain) && !rules.demoHosts.has(domain))
    return refuse('reserved_name', 'This name is reserved and belongs to nobody on the internet.')
  const { registrable } = matchSuffix(domain)
  if (registrable === undefined)
    return refuse(
      'public_suffix',
      'This is a public suffix, under which others register their names; nobody can claim it.',
    )
  const homograph = findHomograph(domain)
  return { ok: true, domain, registrable, homograph, display: homograph ? domain : domainToUnicode(domain) }
}

function reservedOrMalformed(host: string): DomainOutcome {
  if (reserved.test(host))
    return refuse('reserved_name', 'This name is reserved and belongs to nobody on the internet.')
  return host !== '' && /^[a-z0-9-]+$/.test(host)
    ? refuse('public_suffix', 'This is a single label; register a domain such as example.com.')
    : refuse('not_a_domain', 'This is not a domain name.')
}

const refuse = (problem: DomainProblem, detail: string): DomainOutcome => ({ ok: false, problem, detail })
