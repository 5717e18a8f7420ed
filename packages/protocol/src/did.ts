/** did:web of an authority; the colon before a port must be escaped. */
export function didWeb(authority: string): string {
  return `did:web:${authority.replace(':', '%3A')}`
}

/** The `kid` of offers, receipts and statements. */
export function didKeyUrl(authority: string, keyId: string): string {
  return `${didWeb(authority)}#${keyId}`
}
