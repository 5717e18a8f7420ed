import type { Micro } from '@assay/protocol/money'
import type { ChainPort, Rpc } from '../chain/index.ts'
import type { SettlementWallets } from '../chain/wallet/index.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Screening } from '../screening/index.ts'
import type { Database } from '../store/database.ts'
import { moneyMayLeave } from '../transitions/decide-payout.ts'
import { collectDue } from './collect-due.ts'
import type { CustodyKey } from './custody-key.ts'
import { holdListed } from './hold-listed.ts'
import { openStates } from './payout-record.ts'
import type { PayoutPolicy } from './policy.ts'
import { postUsedNonces } from './post-used-nonces.ts'
import type { PayoutPurpose } from './purposes.ts'
import { sendSigned } from './send-signed.ts'
import { signQueued } from './sign-queued.ts'
import { readStops } from './stop-payouts.ts'
import { watchPayouts } from './watch-payouts.ts'
import type { WithdrawPolicy } from './withdraw-policy.ts'

export type PayoutChain = {
  chain: ChainPort
  rpc: Rpc
  /** Absent: the node can accrue here, not pay. */
  key?: CustodyKey
  wallets?: SettlementWallets
}

export type PayoutDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  policy: PayoutPolicy
  chains: readonly PayoutChain[]
  purposes: readonly PayoutPurpose[]
  screening?: Screening
  /** Absent: the operator's money is not withdrawn. */
  withdrawals?: WithdrawPolicy
  /** What shops have committed out of the operator's money at the custody wallet of a network. */
  committedMicro?(network: string): Promise<Micro>
  /** True while the operator has paused payouts. */
  isPaused(): Promise<boolean>
}

/** Whether a round may find something to do, or something keeps money from leaving. */
export const payoutsDueSql = `exists (select from payout where state in ${openStates}) or exists (select from payout_due)
  or exists (select from settlement_transaction where state in ('signed', 'broadcast'))
  or exists (select from restore_gap where reconciled_at is null)
  or exists (select from custody_difference where stopped_at is not null)`

/** One round: what is on its way is read, what is due is stored, signed and sent. Safe to repeat and to kill. */
export async function runPayouts(deps: PayoutDeps): Promise<void> {
  for (const payoutChain of deps.chains) {
    const { chain, rpc, key, wallets } = payoutChain
    const network = chain.network.caip2
    const { open, due } = await readWaiting(deps.database, network)
    if (open) await guarded(deps, 'read', () => watchPayouts(deps, chain))
    const mayPay = !(await deps.isPaused()) && (await mayPayOut(deps, network))
    // What cannot be sent stays owed, and is not queued.
    if (mayPay && chain.network.usdc.eip3009 !== false && due.size > 0)
      await guarded(deps, 'collected', async () => {
        await holdListed(deps, network)
        for (const purpose of deps.purposes) if (due.has(purpose.purpose)) await collectDue(deps, network, purpose)
      })
    if (!key) continue
    await guarded(deps, 'sent', async () => {
      const restored = (await postUsedNonces(deps, { chain, rpc, key })) > 0
      if (!mayPay || restored || !wallets) return
      // Without this, a transaction of a dead process would keep its payouts from being sent again.
      await wallets.recoverWallets()
      if (!open && due.size === 0) return
      await holdListed(deps, network)
      await signQueued(deps, chain, key)
      const sent = await sendSigned(deps, { chain, rpc, wallets })
      if (sent > 0) await watchPayouts(deps, chain)
    })
  }
}

/** Whether any payout is not at its end, and which purposes have debts to be checked: mostly there is neither. */
async function readWaiting(database: Database, network: string): Promise<{ open: boolean; due: Set<string> }> {
  const { rows } = await database.query<{ open: boolean; due: string[] }>({
    name: 'payouts_waiting',
    text: `select exists (select from payout where network = $1 and state in ${openStates}) as open,
       array(select distinct a.purpose from payout_due d join ledger_account a on a.id = d.account_id
         where a.network = $1 and a.purpose is not null) as due`,
    values: [network],
  })
  const [waiting] = rows
  return { open: waiting?.open ?? true, due: new Set(waiting?.due) }
}

/** False while the books are behind the chain, or miss money that should be at the custody wallet. */
export async function mayPayOut(
  { database, metrics }: Pick<PayoutDeps, 'database' | 'metrics'>,
  network: string,
): Promise<boolean> {
  const { stopped, restoring } = await readStops(database, network)
  metrics.gauge('payouts_stopped', stopped || restoring ? 1 : 0, { network })
  return moneyMayLeave({ stopped, restoring })
}

/** One chain that cannot be read must not keep the other waiting. */
async function guarded({ log }: PayoutDeps, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    log.warn({ error: String(error) }, `payouts could not be ${what}`)
  }
}
