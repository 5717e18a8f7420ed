import { bindingContentType } from '@assay/protocol/request-binding'
import { sha256 } from '../kernel/bytes.ts'
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
  return sha256(Buffer.concat([Buffer.from(parts), call.bodyDigest]))
}

/** The same as text, under which calls on a pass or on credit are kept. */
export function callFingerprint(call: PaidCall): string {
  return requestFingerprint(call).toString('hex')
}

/** Only a hash is stored: the identifier is the secret that opens a stored answer. */
export function identifierHash(identifier: string): Buffer {
  return sha256(`payment-identifier:${identifier}`)
}
