import type { Address } from '../kernel/address.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Micro } from '../kernel/money.ts'
import { accounts, lockAccounts, owedTo } from '../ledger/index.ts'
import type { Database } from '../store/database.ts'
import { createPayout } from './create-payout.ts'
import type { PayoutPolicy } from './policy.ts'

/** Accounts of the books that are paid out by themselves: `payable:<purpose>:<wallet>`. */
export type PayoutPurpose = { purpose: string; minimumMicro?: Micro }

export type CollectDeps = { database: Database; clock: Clock; ids: Ids; policy: PayoutPolicy }

const perRunMax = 1_000

/** Makes a payout of every debt that has reached the minimum, whose payee is not held and has none under way. */
export async function collectDue(
  deps: CollectDeps,
  network: string,
  { purpose, minimumMicro = deps.policy.minimumMicro }: PayoutPurpose,
): Promise<number> {
  const { rows } = await deps.database.query<{ payee: Address }>(
    `select substring(a.name from '0x[0-9a-f]{40}') as payee from ledger_account a join ledger_balance b on b.account_id = a.id
     where a.name like 'payable:' || $1 || ':%' and a.unit = $2 and b.owed_micro >= $3
       and not exists (select from payout p where p.network = $4 and p.purpose = $1 and p.subject is null
         and p.payee = substring(a.name from '0x[0-9a-f]{40}') and p.state in ('waiting','queued','signed','parked'))
       and not exists (select from payout_hold h where h.network = $4 and h.payee = substring(a.name from '0x[0-9a-f]{40}'))
     order by b.owed_micro desc limit $5`,
    [purpose, `${network}/usdc`, minimumMicro > 0n ? minimumMicro : 1n, network, perRunMax],
  )
  for (const { payee } of rows) await collectOne(deps, network, purpose, payee)
  return rows.length
}

async function collectOne(deps: CollectDeps, network: string, purpose: string, payee: Address): Promise<void> {
  const source = accounts.payable(network, payee, purpose)
  await deps.database.transaction(async (tx) => {
    // The reversal of a sale reads the same balance: one of the two sees what the other did.
    await lockAccounts(tx, [source])
    const amountMicro = await owedTo(tx, source)
    if (amountMicro === 0n) return
    await createPayout(tx, {
      id: deps.ids.next('po'),
      network,
      payee,
      amountMicro,
      purpose,
      from: [{ account: source, amount: amountMicro }],
      source,
      approved: amountMicro <= deps.policy.approvalMicro,
      nowMs: deps.clock.nowMs(),
    })
  })
}
