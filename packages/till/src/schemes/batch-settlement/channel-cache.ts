import type { Hex } from '@assay/protocol/bytes'
import type { Clock } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'
import type { ChannelRecord } from './channel-record.ts'
import { readChannel, undeliveredSales } from './channel-store.ts'

/** A channel as this process last saw it. The database decides: a sale that rests on an old copy is not committed. */
export type KnownChannel = {
  record: ChannelRecord
  /** Sales whose answer did not reach the buyer, or has not yet, by request. */
  undelivered: Map<string, bigint>
  readAtMs: number
}

const knownMax = 16_384
const undeliveredMax = 32
/** Other processes claim, refund and correct: their word is heard after this long. */
const keptMs = 10_000

type Key = { network: string; id: Hex }

export const channelKey = ({ network, id }: Key): string => `${network} ${id}`

export function createChannelCache(sql: Sql, clock: Clock) {
  const known = new Map<string, KnownChannel>()
  return {
    peek: (key: Key): KnownChannel | undefined => known.get(channelKey(key)),
    /** From memory, or read; undefined where no such channel is known. */
    async get(key: Key): Promise<KnownChannel | undefined> {
      const found = known.get(channelKey(key))
      if (found && clock.monotonicMs() - found.readAtMs < keptMs) return found
      known.delete(channelKey(key))
      const record = await readChannel(sql, key)
      if (!record) return undefined
      const lost = await undeliveredSales(sql, key, undeliveredMax)
      const read: KnownChannel = {
        record,
        undelivered: new Map(lost.map(({ fingerprint, sequence }) => [fingerprint, sequence])),
        readAtMs: clock.monotonicMs(),
      }
      known.set(channelKey(key), read)
      if (known.size > knownMax) known.delete(known.keys().next().value as string)
      return read
    },
    evict: (key: Key): void => void known.delete(channelKey(key)),
    /** The newest voucher of this copy was given to a caller. */
    shown(record: ChannelRecord): void {
      const found = known.get(channelKey(record))
      if (found?.record.sequence !== record.sequence) return
      found.record = { ...found.record, publicMicro: record.signedMicro }
    },
    sold(key: Key, record: ChannelRecord, fingerprint: string): void {
      const found = known.get(channelKey(key))
      if (!found) return
      found.record = record
      found.undelivered.set(fingerprint, record.sequence)
      if (found.undelivered.size > undeliveredMax)
        found.undelivered.delete(found.undelivered.keys().next().value as string)
    },
    delivered(key: Key, sequence: bigint): void {
      const undelivered = known.get(channelKey(key))?.undelivered
      for (const [fingerprint, one] of undelivered ?? []) if (one === sequence) undelivered?.delete(fingerprint)
    },
  }
}

export type ChannelCache = ReturnType<typeof createChannelCache>
