import type { Clock } from './clock.ts'
import type { Rng } from './random.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Crockford base32, lower case, of any bytes. */
export function base32(bytes: Uint8Array): string {
  let bits = 0
  let value = 0
  let text = ''
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[(value >>> bits) & 31]
      value &= (1 << bits) - 1
    }
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text
}

export type Ids = {
  /** A new public id such as `pay_01jc…`: sortable by time, 80 random bits, so it cannot be guessed. */
  next(prefix: string): string
}

export function createIds(clock: Pick<Clock, 'nowMs'>, rng: Pick<Rng, 'bytes'>): Ids {
  return {
    next: (prefix) => {
      const bytes = new Uint8Array(16)
      let ms = clock.nowMs()
      for (let i = 5; i >= 0; i -= 1) {
        bytes[i] = ms % 256
        ms = Math.floor(ms / 256)
      }
      bytes.set(rng.bytes(10), 6)
      return `${prefix}_${base32(bytes)}`
    },
  }
}

/** The lowest id that is made at this moment or later, to within 8 ms: ids sort by time. */
export function firstIdAt(prefix: string, ms: number): string {
  const id = createIds({ nowMs: () => ms }, { bytes: (length) => new Uint8Array(length) }).next(prefix)
  return id.slice(0, prefix.length + 1 + 9)
}

export const publicIdPattern = /^[a-z]{2,8}_[0-9a-hjkmnp-tv-z]{26}$/
