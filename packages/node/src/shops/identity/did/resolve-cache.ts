import type { Clock } from '@assay/till/kernel/clock'

/** Finished answers about DIDs, by whom they are about. */
export type ResolveCache<T> = {
  get(owner: string, key: string): T | undefined
  /** Reads and keeps, unless something about the owner changed meanwhile. */
  fill(owner: string, key: string, read: () => Promise<T>, keeps: (value: T) => boolean): Promise<T>
  /** True when nothing about the owner changed for so long. */
  isUnchangedFor(owner: string, ms: number): boolean
  /** Everything about one owner. */
  evict(owner: string): void
  clear(): void
}

const keptMs = 5_000
const ownersMax = 20_000
const keysPerOwnerMax = 16

export function createResolveCache<T>(clock: Clock): ResolveCache<T> {
  const owners = new Map<string, Map<string, { value: T; untilMs: number }>>()
  const reading = new Map<string, object>()
  const changedAtMs = new Map<string, number>()
  let allChangedAtMs = clock.monotonicMs()
  return {
    get: (owner, key) => {
      const found = owners.get(owner)?.get(key)
      return found !== undefined && found.untilMs > clock.monotonicMs() ? found.value : undefined
    },
    fill: async (owner, key, read, keeps) => {
      const turn = {}
      reading.set(owner, turn)
      try {
        const value = await read()
        // A change during the read took the turn away: what was read may be older than it.
        if (reading.get(owner) !== turn || !keeps(value)) return value
        if (owners.size >= ownersMax && !owners.has(owner)) owners.delete(owners.keys().next().value as string)
        const kept = owners.get(owner) ?? new Map<string, { value: T; untilMs: number }>()
        owners.set(owner, kept)
        if (kept.size < keysPerOwnerMax || kept.has(key))
          kept.set(key, { value, untilMs: clock.monotonicMs() + keptMs })
        return value
      } finally {
        if (reading.get(owner) === turn) reading.delete(owner)
      }
    },
    isUnchangedFor: (owner, ms) =>
      clock.monotonicMs() - Math.max(allChangedAtMs, changedAtMs.get(owner) ?? Number.NEGATIVE_INFINITY) > ms,
    evict: (owner) => {
      changedAtMs.delete(owner)
      changedAtMs.set(owner, clock.monotonicMs())
      if (changedAtMs.size > ownersMax) {
        const [first, atMs] = changedAtMs.entries().next().value as [string, number]
        changedAtMs.delete(first)
        allChangedAtMs = Math.max(allChangedAtMs, atMs)
      }
      owners.delete(owner)
      reading.delete(owner)
    },
    clear: () => {
      owners.clear()
      reading.clear()
      changedAtMs.clear()
      allChangedAtMs = clock.monotonicMs()
    },
  }
}
