import type { Clock } from '@assay/till/kernel/clock'
import { addressBlock } from './choose-peers.ts'

/** How many unknown nodes may make this node fetch something: in all, and per sender, whatever names they use. */
export type StrangerLimit = { admit(remoteAddress: string): boolean }

const sendersMax = 1_000
const perSenderShare = 4

export function createStrangerLimit(clock: Clock, perMinute: number): StrangerLimit {
  const perSender = Math.max(1, Math.floor(perMinute / perSenderShare))
  let minute = -1
  let admitted = 0
  const senders = new Map<string, number>()
  return {
    admit: (remoteAddress) => {
      // One customer has a whole network of IPv6 addresses.
      const sender = remoteAddress.includes(':') ? addressBlock(remoteAddress) : remoteAddress
      const now = Math.floor(clock.nowMs() / 60_000)
      if (now !== minute) {
        minute = now
        admitted = 0
        senders.clear()
      }
      const sent = senders.get(sender) ?? 0
      if (admitted >= perMinute || sent >= perSender) return false
      if (senders.size >= sendersMax && sent === 0) return false
      senders.set(sender, sent + 1)
      admitted += 1
      return true
    },
  }
}
