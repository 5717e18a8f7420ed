/** What tells one transfer from any other: each is one row, and is posted once. */
export const transferKey = <T extends string>(transfer: { network: string; transaction: T; position: number }) => ({
  network: transfer.network,
  transaction: transfer.transaction,
  position: transfer.position,
})
