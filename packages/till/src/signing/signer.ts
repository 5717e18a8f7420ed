/** The parts of an exchange that a response signature covers. */
export type ResponseToSign = {
  status: number
  contentType: string
  /** sha256 of the body bytes; undefined for streams, whose header signature leaves the digest out (tag `x402-stream`). */
  bodySha256: Uint8Array | undefined
  paymentRequired?: string
  paymentResponse?: string
  paymentReceipt?: string
  method: string
  /** From configuration. */
  authority: string
  path: string
  /** With its leading `?`; "?" alone when there is none, as RFC 9421 section 2.2.7 says. */
  query: string
}

export type SignatureHeaders = {
  'content-digest'?: string
  'signature-input': string
  signature: string
}

/** Signs with the active key of the shared keyring; follows rotation without a restart. */
export type ResponseSigner = {
  sign(response: ResponseToSign): SignatureHeaders
  keyId(): string
  /** ed25519 over any bytes, for receipts, offers and documents. */
  signBytes(bytes: Uint8Array): { signature: Uint8Array; keyId: string }
}
