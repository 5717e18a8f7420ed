import { addressKind, type HostKind, hostKind } from '@assay/protocol/mesh/host-kind'
import { AssayError } from '../errors.ts'
import { eitherSignal } from '../exchange.ts'
import type { Platform } from '../platform.ts'

export type FetchGuardOptions = {
  platform: Platform
  /** Origins that the caller named. */
  homes: readonly string[]
  /** For everything together. */
  deadlineMs: number
  /** Addresses of a host name, where the runtime can tell: a public name may lead inside. */
  resolve?: ((hostname: string) => Promise<readonly string[]>) | undefined
}

/** The one way of the mesh functions to hosts that others named. */
export type FetchGuard = {
  /** Whether `from`, an origin that may be asked, may lead to this one. From then on it may be asked too. */
  admit(origin: string, from: string): Promise<boolean>
  /** Runs work whose requests reach admitted origins alone, follow no redirect, and end in time with all the work. */
  within<T>(msMax: number, work: (platform: Platform) => Promise<T>, until?: AbortSignal): Promise<T>
}

export function createFetchGuard({ platform, homes, deadlineMs, resolve }: FetchGuardOptions): FetchGuard {
  const admitted = new Set(homes.map((home) => new URL(home).origin))
  const endMs = platform.nowMs() + deadlineMs
  const guarded = (signal: AbortSignal): Platform => ({
    ...platform,
    fetch: async (request) => {
      if (!admitted.has(new URL(request.url).origin))
        throw new AssayError('host_not_allowed', { detail: `${request.url} is not of a node that was verified` })
      return platform.fetch(new Request(request, { redirect: 'error', signal: eitherSignal(request.signal, signal) }))
    },
  })
  return {
    admit: async (origin, from) => {
      if (admitted.has(origin)) return true
      if (!admitted.has(from) || !(await mayLead(from, origin, resolve))) return false
      admitted.add(origin)
      return true
    },
    within: async (msMax, work, until) => {
      const limit = platform.timeout(Math.max(1, Math.min(msMax, endMs - platform.nowMs())))
      const stop = new AbortController()
      const end = (signal: AbortSignal) => () => stop.abort(signal.reason)
      const ends = [limit.signal, ...(until ? [until] : [])].map((signal) => ({ signal, listener: end(signal) }))
      const stopped = new Promise<never>((_, reject) => {
        stop.signal.addEventListener('abort', () => reject(new Error('no answer in time')), { once: true })
      })
      for (const { signal, listener } of ends)
        if (signal.aborted) listener()
        else signal.addEventListener('abort', listener, { once: true })
      try {
        return await Promise.race([work(guarded(stop.signal)), stopped])
      } finally {
        limit.clear()
        for (const { signal, listener } of ends) signal.removeEventListener('abort', listener)
      }
    },
  }
}

/** https and public; plain http, this machine and private networks only where the one that led there is itself. */
async function mayLead(from: string, to: string, resolve: FetchGuardOptions['resolve']): Promise<boolean> {
  if (!URL.canParse(to) || new URL(to).origin !== to) return false
  const [there, here] = [new URL(to), new URL(from)]
  const allowed: HostKind[] = ['public', hostKind(here.hostname)]
  const kind = hostKind(there.hostname)
  if (!allowed.includes(kind)) return false
  if (there.protocol !== 'https:' && !(there.protocol === 'http:' && kind === 'loopback')) return false
  if (resolve === undefined || kind !== 'public') return true
  const addresses = await resolve(there.hostname.replace(/^\[|\]$/g, '')).catch(() => [])
  return addresses.length > 0 && addresses.every((address) => allowed.includes(addressKind(address)))
}

/** The path of a next hop, if it is one: it stays at the origin it came from. */
export function hopPath(next: string | null | undefined, origin: string): string | undefined {
  if (typeof next !== 'string' || !next.startsWith('/') || !URL.canParse(next, origin)) return undefined
  const url = new URL(next, origin)
  return url.origin === new URL(origin).origin ? `${url.pathname}${url.search}` : undefined
}
