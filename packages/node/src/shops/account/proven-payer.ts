import type { ProvenAccount } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import { type CallContext, signerOf } from '../../http/index.ts'
import type { ShopContext } from '../shop.ts'

export type PayerDeps = Pick<ShopContext, 'proofs' | 'assets'>
export type Payer = { address: Address; networks: string[] }

/** Where a wallet is itself: a contract wallet may belong to somebody else on another chain. */
export function payerOf({ assets }: Pick<PayerDeps, 'assets'>, account: ProvenAccount): Payer {
  const own = assets.filter(({ chainId }) => account.kind === 'key' || chainId === account.chainId)
  return { address: account.address, networks: own.map(({ caip2 }) => caip2) }
}

/** The wallet that signed this request. */
export async function provenPayer(deps: PayerDeps, call: CallContext): Promise<Payer> {
  return payerOf(deps, await signerOf(deps, call))
}
