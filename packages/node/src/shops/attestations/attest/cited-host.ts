import { type CanonicalDomain, canonicalDomain, type DomainRules } from '../../sources/domain/index.ts'
import type { Snapshot } from './snapshots.ts'

export type CitedHost = Pick<CanonicalDomain, 'domain' | 'registrable'>

/**
 * Whose page it is: the host that served it, not one that redirected to it. A canonical link may name another host of
 * the same site; one to a different site proves nothing. Undefined when a redirect led to what nobody can own.
 */
export function citedHost(
  snapshot: Pick<Snapshot, 'finalUrl' | 'canonical'>,
  rules: DomainRules,
): CitedHost | undefined {
  const served = hostOf(snapshot.finalUrl, rules)
  const canonical = snapshot.canonical === null ? undefined : hostOf(snapshot.canonical, rules)
  return canonical && canonical.registrable === served?.registrable ? canonical : served
}

function hostOf(url: string, rules: DomainRules): CitedHost | undefined {
  const outcome = canonicalDomain(new URL(url).hostname, rules)
  return outcome.ok ? { domain: outcome.domain, registrable: outcome.registrable } : undefined
}
