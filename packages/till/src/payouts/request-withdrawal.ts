import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import { writeAudit } from '../store/audit-log.ts'
import type { Database, Tx } from '../store/database.ts'
import { lockPayoutAccount, nextNumber } from './identity.ts'
import { openStates } from './payout-record.ts'
import { withdrawalPurpose } from './purposes.ts'
import { isAllowed, type WithdrawPolicy } from './withdraw-policy.ts'

export type WithdrawalRequest = {
  network: string
  payee: Address
  /** Absent: all that can be withdrawn when it is carried out. */
  amountMicro?: Micro
  by: string
  scheduled?: boolean
}

export type WithdrawalRequestOutcome =
  | { status: 'asked'; id: string }
  | { status: 'refused'; why: 'destination_not_allowed' | 'asked_before' }

type RequestDeps = { database: Database; clock: Clock; ids: Ids }

/** Stores a request for a withdrawal; a running node executes it. */
export async function requestWithdrawal(
  deps: RequestDeps,
  policy: WithdrawPolicy,
  request: WithdrawalRequest,
): Promise<WithdrawalRequestOutcome> {
  const { network, payee } = request
  if (!isAllowed(policy, network, payee)) return { status: 'refused', why: 'destination_not_allowed' }
  const id = deps.ids.next('wd')
  return deps.database.transaction(async (tx) => {
    const n = await numberOfNext(tx, network, payee)
    const { rowCount } = await tx.query(
      `insert into withdrawal (id, network, payee, amount_micro, n, requested_by, scheduled, requested_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
      [
        id,
        network,
        payee,
        request.amountMicro ?? null,
        n,
        request.by,
        request.scheduled ?? false,
        new Date(deps.clock.nowMs()),
      ],
    )
    if (rowCount === 0) return { status: 'refused', why: 'asked_before' }
    await writeAudit(tx, {
      actor: request.by,
      action: 'withdrawal.ask',
      subject: id,
      details: { network, payee, amount_micro: request.amountMicro?.toString() ?? 'all' },
    })
    return { status: 'asked', id }
  })
}

/** The request means this payout and no later one: a restored request whose payout the chain shows asks for nothing more. */
async function numberOfNext(tx: Tx, network: string, payee: Address): Promise<bigint> {
  const key = { network, purpose: withdrawalPurpose, account: payee }
  await lockPayoutAccount(tx, key)
  const { rowCount } = await tx.query(
    `select from payout where network = $1 and purpose = $2 and account = $3 and state in ${openStates}`,
    [network, withdrawalPurpose, payee],
  )
  return (await nextNumber(tx, key)) + (rowCount > 0 ? 1n : 0n)
}
