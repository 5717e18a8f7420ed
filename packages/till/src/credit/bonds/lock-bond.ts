import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import { Problem } from '../../kernel/problem.ts'
import { accounts, post } from '../../ledger/index.ts'
import type { Database } from '../../store/database.ts'
import { lockCredit } from '../credit-balance.ts'
import { type Bond, insertBond } from './store.ts'

export type BondDeps = { database: Database; clock: Clock; ids: Ids; releaseDelaySeconds: number }

export type BondAsked = { wallet: Address; network: string; micro: Micro; days: number }

const dayMs = 86_400_000

/** Final money only: what a reorg could take away is no stake. */
export async function lockBondOf(deps: BondDeps, { wallet, network, micro, days }: BondAsked): Promise<Bond> {
  const nowMs = deps.clock.nowMs()
  const bond: Bond = {
    id: deps.ids.next('bond'),
    wallet,
    network,
    micro,
    slashedMicro: 0n,
    state: 'locked',
    lockedAtMs: nowMs,
    lockedUntilMs: nowMs + days * dayMs,
    releaseDelaySeconds: deps.releaseDelaySeconds,
    releaseAtMs: null,
    endedAtMs: null,
  }
  await deps.database.transaction(async (tx) => {
    // What a bond gives back is credit at custody, so its money has to be there.
    const { inCustodyMicro } = await lockCredit(tx, network, wallet)
    if (inCustodyMicro < micro)
      throw new Problem('credit_unavailable', {
        detail: 'Less than that can be locked at the moment.',
        extra: { network, available_micro: inCustodyMicro.toString() },
      })
    await insertBond(tx, bond)
    await post(tx, [
      {
        reference: `bond:${bond.id}`,
        kind: 'bond',
        lines: [
          { account: accounts.credit(network, wallet), amount: micro },
          { account: accounts.creditBonded(network, wallet), amount: -micro },
        ],
      },
    ])
  })
  return bond
}
