import type { Address } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import type { SourceDeps } from '../deps.ts'
import { sourceProblems } from '../problems.ts'
import { type ClaimRow, liveClaims, lockSource } from './records.ts'
import { keepContact } from './register-source.ts'
import { claimOfWallet, verifySource } from './verify-source.ts'

export type WalletChange = {
  domain: string
  wallet: Address
  contact?: string | undefined
  signedBy: Address | undefined
}

/**
 * A new payout wallet proves the domain like any other claim. The wallet that is paid now may agree to it, as long as its
 * own proof is found: a former owner has no say in who is paid next.
 */
export async function changeWallet(deps: SourceDeps, change: WalletChange): Promise<void> {
  const { domain, wallet, signedBy } = change
  requireConsent(await claimOfWallet(deps, domain, undefined), change)
  await verifySource(deps, domain)
  await keepContact(deps.database, domain, change)
  if (signedBy === undefined) return
  await deps.database.transaction(async (tx) => {
    await lockSource(tx, domain)
    const holder = requireConsent(
      (await liveClaims(tx, domain)).find((claim) => claim.state === 'proven'),
      change,
    )
    if (holder.wallet === wallet) return
    if (holder.report?.status !== 'proven')
      throw new Problem(sourceProblems.source_unproven, {
        detail:
          holder.report?.status === 'could_not_check'
            ? `The proof of ${holder.wallet} could not be checked; try again in a minute.`
            : `The proof of ${holder.wallet} was not found; publish it again before changing the wallet.`,
      })
    await tx.query('update source_claim set agreed_wallet = $2 where id = $1', [holder.id, wallet])
  })
}

function requireConsent(holder: ClaimRow | undefined, { domain, signedBy }: WalletChange): ClaimRow {
  if (!holder)
    throw new Problem(sourceProblems.source_unproven, {
      detail: `${domain} has no proven claim whose wallet could be changed.`,
    })
  if (signedBy !== undefined && signedBy !== holder.wallet)
    throw new Problem('forbidden', { detail: 'The request is signed by a wallet that is not the one paid now.' })
  return holder
}
