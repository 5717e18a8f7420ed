import type { LoopbackTarget, Resolver } from '../../../outbound/index.ts'

/** Answers for the names of the demo itself; every other question goes to the real resolver. */
export function withDemoZone(
  resolver: Resolver,
  hosts: ReadonlyMap<string, LoopbackTarget>,
  txtRecords: (name: string) => readonly string[],
): Resolver {
  const local = (name: string) => name.endsWith('.test')
  const empty = { status: 'ok' as const, authenticated: false, ttlSeconds: 0 }
  return {
    name: resolver.name,
    addresses: async (host, signal) => {
      const target = hosts.get(host)
      if (local(host)) return { status: 'ok', addresses: target ? [target.address] : [] }
      return resolver.addresses(host, signal)
    },
    txt: async (name, signal) => (local(name) ? { ...empty, records: txtRecords(name) } : resolver.txt(name, signal)),
    caa: async (name, signal) => (local(name) ? { ...empty, records: [] } : resolver.caa(name, signal)),
    srv: async (name, signal) => (local(name) ? { ...empty, records: [] } : resolver.srv(name, signal)),
  }
}
