import type { Address } from '@assay/protocol/address'
import type { Sale } from '@assay/till'
import { Problem } from '@assay/till/kernel/problem'
import type { Tx } from '@assay/till/store/database'
import { type CallContext, signerOf } from '../../http/index.ts'
import type { Side } from './book-sides.ts'
import { withoutSeries } from './market-closed.ts'
import { commitPlaced, revokePlaced } from './place-in-book.ts'
import type { TradeDeps } from './trade-routes.ts'

/** What every sale of the exchange has in common: collateral, premium and payout are on one chain, in custody. */
export const soldHere = (deps: TradeDeps) => ({
  kind: 'paid' as const,
  networks: [deps.network],
  creditOnNetworksOnly: true,
  payee: 'custody' as const,
  revocable: true,
  consumption: 'none' as const,
  unavailable: () => withoutSeries(deps),
})

/** And what places something in the book. */
export const placedHere = (deps: TradeDeps, side: Side) => ({
  ...soldHere(deps),
  commit: (tx: Tx, sale: Sale) => commitPlaced(deps, tx, side, sale),
  revoke: (tx: Tx, sale: Sale) => revokePlaced(deps, tx, side, sale),
})

/** Who signed. Paid on the chain of the exchange: elsewhere a contract wallet's address may have another owner. */
export async function signedOnExchange(deps: TradeDeps, call: CallContext): Promise<Address> {
  const { address, kind, chainId } = await signerOf(deps, call)
  if (kind === 'contract' && `eip155:${chainId}` !== deps.network)
    throw new Problem('forbidden', { detail: `Sign for the wallet on ${deps.network}.` })
  return address
}
