import { fieldProblem } from '@assay/till/kernel/problem'
import { canonicalDomain, type DomainRules, pageAddress } from '../../sources/domain/index.ts'

export type SourceUrl = { url: string; domain: string; registrable: string }

/** `asked` is the address as the caller wrote it, in the form of the WHATWG and without fragment: agents sign that one. */
export type AskedUrl = SourceUrl & { asked: string }

/** One spelling for each page, without credentials and on a domain that somebody can own. */
export function sourceUrl(text: string, rules: DomainRules, field = 'source_url'): AskedUrl {
  if (text.length > 2_048 || !URL.canParse(text)) throw fieldProblem(field, 'is not a URL of at most 2048 characters')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw fieldProblem(field, 'must be http or https')
  if (url.username !== '' || url.password !== '') throw fieldProblem(field, 'must not carry a user name or password')
  if (url.port !== '') throw fieldProblem(field, 'must be at the usual port')
  url.hash = ''
  const domain = canonicalDomain(url.hostname, rules)
  if (!domain.ok) throw fieldProblem(field, `is not on a public domain: ${domain.detail}`)
  if (url.href.length > 2_048) throw fieldProblem(field, 'is longer than 2048 characters')
  return { url: pageAddress(url), asked: url.href, domain: domain.domain, registrable: domain.registrable }
}
