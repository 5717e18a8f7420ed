import type { ChainPort, Rpc } from '../chain/index.ts'
import type { SettlementWallets } from '../chain/wallet/index.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Database } from '../store/database.ts'
import { collectDue, type PayoutPurpose } from './collect-due.ts'
import type { CustodyKey } from './custody-key.ts'
import type { PayoutPolicy } from './policy.ts'
import { sendSigned } from './send-signed.ts'
import { signQueued } from './sign-queued.ts'
import { watchPayouts } from './watch-payouts.ts'

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
  /** False while the operator has stopped paying. */
  switchedOn(): Promise<boolean>
}

/** One round: what is on its way is looked at, what is due is put down, signed and sent. Safe to repeat and to kill. */
export async function runPayouts(deps: PayoutDeps): Promise<void> {
  for (const { chain, rpc, key, wallets } of deps.chains) {
    await guarded(deps, 'looked at', () => watchPayouts(deps, chain))
    if (!(await deps.switchedOn())) continue
    await guarded(deps, 'collected', async () => {
      for (const purpose of deps.purposes) await collectDue(deps, chain.network.caip2, purpose)
    })
    if (!key || !wallets) continue
    await guarded(deps, 'sent', async () => {
      // What a dead process sent and nobody watches would keep its payouts from ever being sent again.
      await wallets.recoverLanes()
      await signQueued(deps, chain, key)
      const sent = await sendSigned(deps, { chain, rpc, wallets })
      if (sent > 0) await watchPayouts(deps, chain)
    })
  }
}

/** One chain that cannot be read must not keep the other waiting. */
async function guarded({ log }: PayoutDeps, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    log.warn({ error: String(error) }, `payouts could not be ${what}`)
  }
}
