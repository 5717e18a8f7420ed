import { checksumAddress } from '@assay/protocol/address'
import { countReview } from '@assay/till/internal'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import { type BooksGroup, booksByGroup, foundDifferences, openClearingSinceRollup } from '@assay/till/ledger'
import { listPayouts, type WithdrawPolicy } from '@assay/till/payouts'
import { readAudit } from '@assay/till/store/audit-log'
import type { Sql } from '@assay/till/store/database'
import { describePauses, readPauses } from '@assay/till/store/pauses'
import { alarmAdvice } from './alarm-advice.generated.ts'
import { readOpenDisputes } from './dispute-routes.ts'
import { readPaymentStates } from './payment-states.ts'
import type { Alarm } from './read-alarms.ts'
import { readCustomers } from './read-customers.ts'
import { readNotifications } from './read-notifications.ts'
import { readWithdrawals } from './withdraw-routes.ts'

export type OverviewDeps = {
  sql: Sql
  clock: Clock
  withdrawals: WithdrawPolicy
  /** Whether this node delivers any. */
  notifies: boolean
  alarms(): Promise<Alarm[]>
}

/** Anybody may add to the queue by sending money: beyond this it is not counted. */
const reviewCountMax = 100

/** Everything the operator reads first, in one answer: one signature for all of it. */
export async function readOverview({ sql, clock, alarms, withdrawals, notifies }: OverviewDeps) {
  const [
    books,
    clearing,
    payments,
    payouts,
    review,
    pauses,
    audit,
    raised,
    withdrawn,
    disputes,
    notifications,
    customers,
    differences,
  ] = await Promise.all([
    booksByGroup(sql),
    openClearingSinceRollup(sql, 20),
    readPaymentStates(sql),
    listPayouts(sql, { limit: 20 }),
    countReview(sql, reviewCountMax),
    readPauses(sql),
    readAudit(sql, { limit: 20 }),
    alarms(),
    readWithdrawals(sql, withdrawals),
    readOpenDisputes(sql),
    notifies ? readNotifications(sql, clock.nowMs()) : null,
    readCustomers(sql),
    foundDifferences(sql),
  ])
  return {
    at: toRfc3339(clock.nowMs()),
    books: {
      balanced: isBalanced(books),
      accounts: books.map(accountOf),
      differences,
      open_clearing: clearing.map(({ name, balanceMicro, paymentId, since }) => ({
        account: name,
        balance: balanceMicro.toString(),
        payment_id: paymentId,
        since_at: since.toISOString(),
      })),
    },
    payments,
    review_open: review,
    payouts: payouts.map((payout) => ({
      id: payout.id,
      network: payout.network,
      payee: checksumAddress(payout.payee),
      amount_micro: payout.amountMicro.toString(),
      purpose: payout.purpose,
      state: payout.state,
      reason: payout.reason,
      transaction: payout.transaction,
      created_at: payout.createdAt.toISOString(),
    })),
    withdrawals: withdrawn,
    disputes,
    notifications: notifications,
    customers,
    alarms: raised.map((one) => ({ ...one, to_do: alarmAdvice[one.alarm] ?? null })),
    pauses: describePauses(pauses),
    audit: audit.map(({ happenedAt, actor, action, subject }) => ({
      at: happenedAt.toISOString(),
      actor,
      action,
      subject,
    })),
  }
}

const accountOf = ({ group, kind, unit, balanceMicro, accounts }: BooksGroup) => ({
  group,
  kind,
  unit,
  balance: balanceMicro.toString(),
  accounts,
})

function isBalanced(books: readonly BooksGroup[]): boolean {
  const sums = new Map<string, bigint>()
  for (const { unit, balanceMicro } of books) sums.set(unit, (sums.get(unit) ?? 0n) + balanceMicro)
  return [...sums.values()].every((sum) => sum === 0n)
}
