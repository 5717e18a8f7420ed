import { createHmac } from 'node:crypto'
import { equalBytes } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Rng } from '../kernel/random.ts'

/**
 * Challenge nonces that need no storage until they are used: 4 bytes of expiry, 6 random, 6 of an HMAC over those and
 * the origin, as 32 hex digits. A short MAC is enough, since a forged nonce still needs its owner's signature.
 */
export type NonceIssuer = {
  issue(origin: string, ttlMs: number): { nonce: string; expiresAtMs: number }
  /** When it expires, or undefined for a nonce that is not ours, not for this origin, or over. */
  check(nonce: string, origin: string): number | undefined
}

const noncePattern = /^[0-9a-f]{32}$/

export function createNonceIssuer(options: { secret: Uint8Array; clock: Clock; rng: Rng }): NonceIssuer {
  const { secret, clock, rng } = options
  const mac = (head: Uint8Array, origin: string) =>
    createHmac('sha256', secret).update(head).update(origin).digest().subarray(0, 6)
  return {
    issue: (origin, ttlMs) => {
      const expiresAtSeconds = Math.floor((clock.nowMs() + ttlMs) / 1000)
      const head = Buffer.alloc(10)
      head.writeUInt32BE(expiresAtSeconds, 0)
      head.set(rng.bytes(6), 4)
      return { nonce: Buffer.concat([head, mac(head, origin)]).toString('hex'), expiresAtMs: expiresAtSeconds * 1000 }
    },
    check: (nonce, origin) => {
      if (!noncePattern.test(nonce)) return undefined
      const bytes = Buffer.from(nonce, 'hex')
      const head = bytes.subarray(0, 10)
      if (!equalBytes(mac(head, origin), bytes.subarray(10))) return undefined
      const expiresAtMs = head.readUInt32BE(0) * 1000
      return expiresAtMs > clock.nowMs() ? expiresAtMs : undefined
    },
  }
}
