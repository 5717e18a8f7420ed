/** Thrown where a sale is reversed for a refund: what was bought can no longer be revoked, and the refund is refused with this reason. */
export class NotRefundable extends Error {
  override readonly name = 'NotRefundable'
}
