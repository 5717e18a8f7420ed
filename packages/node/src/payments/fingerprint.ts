import { createHash } from 'node:crypto'
import { sha256 } from '../kernel/bytes.ts'
import { bindingContentType } from '../kernel/request-binding.ts'
import type { PaidCall } from './paid-call.ts'

/** What a payment buys, in 32 bytes: method, resource with query, body and representation. Equal requests are equal here. */
export function requestFingerprint(call: PaidCall): Buffer {
  let parts = ''
  for (const part of [
    call.route.id,
    call.method,
    call.resourceUrl,
    bindingContentType(call.contentType),
    call.representation,
  ]) {
    // Lengths keep `ab`+`c` apart from `a`+`bc`.
    parts += `${Buffer.byteLength(part)}:${part}`
  }
  return createHash('sha256').update(parts).update(call.bodyDigest).digest()
}

/** Only a hash is stored: the identifier is the secret that opens a stored answer. */
export function identifierHash(identifier: string): Buffer {
  return sha256(`payment-identifier:${identifier}`)
}
