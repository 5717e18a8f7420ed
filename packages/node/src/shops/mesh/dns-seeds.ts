import { type NodeAddress, parseNodeAddress } from '@assay/protocol/mesh/node-address'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import { parseIp, type Resolver } from '../../outbound/index.ts'

export type DnsSeedDeps = {
  /** MESH_DNS. */
  names: readonly string[]
  resolvers: readonly Resolver[]
  clock: Clock
  log: Log
}

/** Nodes that domains name in their SRV records. What they say is as good as a rumour: each is visited and proves itself. */
export type DnsSeeds = {
  due(): boolean
  refresh(signal: AbortSignal): Promise<void>
  current(): readonly NodeAddress[]
}

const seedsPerNameMax = 16
const shortestMs = 60_000
const longestMs = 3_600_000

export const srvNameOf = (domain: string) => `_x402._tcp.${domain}`

export function createDnsSeeds({ names, resolvers, clock, log }: DnsSeedDeps): DnsSeeds {
  const found = new Map<string, readonly NodeAddress[]>()
  let nextMs = 0
  return {
    due: () => names.length > 0 && clock.monotonicMs() >= nextMs,
    current: () => [...found.values()].flat(),
    refresh: async (signal) => {
      nextMs = clock.monotonicMs() + shortestMs
      let ttlMs = longestMs
      for (const name of names) {
        const answer = await lookupSrv(resolvers, srvNameOf(name), signal)
        if (answer === undefined) {
          // What was found before stays: peers are no worse for a resolver that is silent.
          log.warn({ name }, 'no resolver answers for the nodes of a domain')
          ttlMs = shortestMs
          continue
        }
        found.set(name, seedsIn(answer.records))
        ttlMs = Math.min(ttlMs, answer.ttlSeconds * 1_000)
      }
      nextMs = clock.monotonicMs() + Math.max(shortestMs, ttlMs)
    },
  }
}

async function lookupSrv(resolvers: readonly Resolver[], name: string, signal: AbortSignal) {
  for (const resolver of resolvers) {
    const answer = await resolver.srv(name, signal)
    if (answer.status === 'ok') return answer
  }
  return undefined
}

/** Those of the lowest priority first. A target of `.` says that there is none (RFC 2782). */
export function seedsIn(records: readonly string[]): NodeAddress[] {
  const parsed = records.flatMap((record) => {
    const [, priority, port, target] = /^(\d+) \d+ (\d+) (\S+)\.$/.exec(record) ?? []
    if (target === undefined || port === '0' || parseIp(target) !== undefined) return []
    const address = parseNodeAddress(`https://${target}${port === '443' ? '' : `:${port}`}`)
    return address === undefined ? [] : [{ priority: Number(priority), address }]
  })
  return parsed
    .sort((a, b) => a.priority - b.priority)
    .slice(0, seedsPerNameMax)
    .map(({ address }) => address)
}
