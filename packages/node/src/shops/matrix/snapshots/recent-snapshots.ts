import type { Snapshot } from './snapshot.ts'

/** Recent snapshots. Pages find them by hash; tiers with the same rights find them by the key of their inputs. */
export type RecentSnapshots = {
  put(snapshot: Snapshot, key?: string): void
  bySha256(sha256: string): Snapshot | undefined
  byKey(key: string): Snapshot | undefined
}

/** Bounded in bytes; the one not used longest goes first. */
export function createRecentSnapshots(bytesMax = 48 * 1024 * 1024): RecentSnapshots {
  const held = new Map<string, Snapshot>()
  const sha256Of = new Map<string, string>()
  let bytes = 0
  const touch = (snapshot: Snapshot) => {
    held.delete(snapshot.sha256)
    held.set(snapshot.sha256, snapshot)
    return snapshot
  }
  return {
    put: (snapshot, key) => {
      if (!held.has(snapshot.sha256)) bytes += snapshot.bytes.length
      touch(snapshot)
      if (key !== undefined) sha256Of.set(key, snapshot.sha256)
      for (const [sha256, old] of held) {
        if (bytes <= bytesMax || sha256 === snapshot.sha256) break
        held.delete(sha256)
        bytes -= old.bytes.length
      }
      for (const [known, sha256] of sha256Of) if (!held.has(sha256)) sha256Of.delete(known)
    },
    bySha256: (sha256) => held.get(sha256),
    byKey: (key) => {
      const found = held.get(sha256Of.get(key) ?? '')
      return found && touch(found)
    },
  }
}
