import { toBase64 } from '../base64.ts'

/** RFC 9421 section 2.5, for components whose values are already known. */
export type CoveredComponent = { id: string; value: string }

/** `inner` is the inner list with its parameters: the value of `@signature-params` and of one Signature-Input member. */
export function signatureBase(components: readonly CoveredComponent[], inner: string): string {
  let base = ''
  for (const { id, value } of components) base += `${id}: ${value}\n`
  return `${base}"@signature-params": ${inner}`
}

export function contentDigest(sha256: Uint8Array): string {
  return `sha-256=:${toBase64(sha256)}:`
}
