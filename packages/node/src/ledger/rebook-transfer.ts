import type { Tx } from '../store/database.ts'
import type { MovedMoney, TransferBooking } from './transfers.ts'

/** What a transfer of the time that a restore took from the books is booked as until something explains it. */
export const restoreGapBooking = 'restore_gap'

/**
 * Takes a transfer that was booked to the account of the gap for what it turned out to be. The money is then posted from
 * `accounts.restoreGap`, without naming the transfer again. False when it is not booked there.
 */
export async function rebookGapTransfer(
  tx: Tx,
  key: Pick<MovedMoney, 'network' | 'asset' | 'transaction' | 'position'>,
  booking: TransferBooking,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update transfer set booked_as = $5, booked_for = $6, booked_at = $7
     where network = $1 and asset = $2 and transaction = $3 and position = $4 and booked_as = '${restoreGapBooking}'`,
    [key.network, key.asset, key.transaction, key.position, booking.as, booking.for, new Date(nowMs)],
  )
  return rowCount > 0
}
