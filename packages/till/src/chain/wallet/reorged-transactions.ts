import type { Address } from '@assay/protocol/address'
import type { LeasedWalletDeps } from './leased-wallet-state.ts'
import { transactionCount } from './transaction-count.ts'
import { lastMinedNonces } from './transaction-store.ts'

/** No chain we know replaces blocks as old as this. */
const replaceableMs = 3_600_000

/**
 * Wallets whose mined transactions a reorganization undid: the chain counts fewer than we saw in blocks. Nobody else
 * would notice while the wallet is idle, and what it carried would land with its next use, or too late.
 */
export async function walletsWithReorgedTransactions(
  { database, network, rpc, clock }: Pick<LeasedWalletDeps, 'database' | 'network' | 'rpc' | 'clock'>,
  wallets: readonly Address[],
): Promise<Set<Address>> {
  const mined = await lastMinedNonces(database, network.caip2, wallets, clock.nowMs() - replaceableMs)
  const asked = wallets.filter((wallet) => mined.has(wallet))
  if (asked.length === 0) return new Set()
  const counts = await Promise.all(asked.map((wallet) => transactionCount(rpc, wallet, 'latest')))
  return new Set(asked.filter((wallet, index) => (counts[index] as bigint) <= (mined.get(wallet) as bigint)))
}
