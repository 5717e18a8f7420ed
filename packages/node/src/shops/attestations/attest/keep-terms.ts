import type { Clock } from '@assay/till/kernel/clock'
import type { HostTerms, ReadTerms } from './attest-price.ts'

const keptMs = 5_000
const hostsMax = 1_000

/** Counts the changes of terms that this process knows of: what was read before one is read again. */
export type TermsChanges = { count: number }

/**
 * Terms for quotes, a few seconds old at most: a request that pays nothing must not cost a read of the database each
 * time. A sale reads them again.
 */
export function keepTerms(read: ReadTerms, { clock, changes }: { clock: Clock; changes: TermsChanges }): ReadTerms {
  type Kept = { terms: Promise<HostTerms>; readAtMs: number; change: number }
  const kept = new Map<string, Kept>()
  const keyOf = ({ domain, registrable }: { domain: string; registrable: string }) => `${domain} ${registrable}`
  const isFresh = (one: Kept | undefined): boolean =>
    one !== undefined && one.change === changes.count && clock.monotonicMs() - one.readAtMs < keptMs
  return async (hosts) => {
    const missing = [...new Map(hosts.map((host) => [keyOf(host), host]))].filter(([key]) => !isFresh(kept.get(key)))
    if (missing.length > 0) {
      const reading = read(missing.map(([, host]) => host))
      for (const [at, [key]] of missing.entries()) {
        const one = {
          terms: reading.then((all) => all[at] as HostTerms),
          readAtMs: clock.monotonicMs(),
          change: changes.count,
        }
        one.terms.catch(() => kept.get(key) === one && kept.delete(key))
        kept.delete(key)
        kept.set(key, one)
      }
    }
    const found = await Promise.all(hosts.map((host) => kept.get(keyOf(host))?.terms as Promise<HostTerms>))
    for (const [key] of kept) {
      if (kept.size <= hostsMax) break
      kept.delete(key)
    }
    return found
  }
}
