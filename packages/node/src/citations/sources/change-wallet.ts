import type { Address } from '../../kernel/address.ts'
import { Problem } from '../../kernel/problem.ts'
import type { SourceDeps } from '../deps.ts'
import { liveClaims, lockSource } from './records.ts'
import { ensureClaim } from './register-source.ts'

export type WalletChange = {
  domain: string
  wallet: Address
  contact?: string | undefined
  signedBy: Address | undefined
}

/** A new payout wallet is a new claim with a proof of its own. The wallet that is paid now may agree to it. */
export async function changeWallet(deps: SourceDeps, change: WalletChange): Promise<string> {
  return deps.database.transaction(async (tx) => {
    const source = await lockSource(tx, change.domain)
    const holder = (await liveClaims(tx, change.domain)).find((claim) => claim.state === 'proven')
    if (!source || !holder)
      throw new Problem('source_unproven', {
        detail: `${change.domain} has no proven claim whose wallet could be changed.`,
      })
    if (holder.wallet === change.wallet) return holder.id
    const consented = change.signedBy === holder.wallet
    if (change.signedBy !== undefined && !consented)
      throw new Problem('forbidden', { detail: 'The request is signed by a wallet that is not the one paid now.' })
    return ensureClaim(deps, tx, change.domain, {
      wallet: change.wallet,
      contact: change.contact,
      kind: 'wallet_change',
      consented,
    })
  })
}
