import { decodeHeader } from '../decode-header.ts'
import { decodeExact } from './decode-exact.ts'

/** A whole header, as the gate reads one. */
export function decodePayment(header: string) {
  const decoded = decodeHeader(header)
  return decoded.status === 'ok' ? decodeExact(decoded.envelope) : decoded
}
