import { chainAccount } from '../../ledger/index.ts'

export const channelAccounts = {
  /** Vouchers of payment channels. Debited by each sale, credited when their claim is final, or when the money is gone. */
  vouchers: (network: string) => chainAccount('asset', false, network, 'channels:vouchers'),
  /** Claimed from payment channels and not sent to us yet. Debited when a claim is final, credited by the transfer in. */
  claimed: (network: string) => chainAccount('asset', false, network, 'channels:claimed'),
  /** Vouchers that could not be claimed any more. Debited then; credited if their channel is paid into again. */
  loss: (network: string) => chainAccount('expense', false, network, 'loss:channels'),
} as const
