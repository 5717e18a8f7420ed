import { checksumAddress } from '../kernel/address.ts'
import { type Clock, toRfc3339 } from '../kernel/clock.ts'
import { balanceDifferences, openClearing, type TrialBalance, trialBalance } from '../ledger/index.ts'
import { listPayouts } from '../payouts/index.ts'
import { readAudit } from '../store/audit-log.ts'
import type { Sql } from '../store/database.ts'
import { readSwitches } from '../store/kill-switches.ts'
import type { Alarm } from './read-alarms.ts'

export type OverviewDeps = { sql: Sql; clock: Clock; alarms(): Promise<Alarm[]> }

/** Everything the operator looks at first, in one answer: one look costs one signature. */
export async function readOverview({ sql, clock, alarms }: OverviewDeps) {
  const [books, differences, clearing, payments, payouts, review, switches, audit, rung] = await Promise.all([
    trialBalance(sql),
    balanceDifferences(sql),
    openClearing(sql, 20),
    readPaymentStates(sql),
    listPayouts(sql, { limit: 20 }),
    countReview(sql),
    readSwitches(sql),
    readAudit(sql, { limit: 20 }),
    alarms(),
  ])
  return {
    at: toRfc3339(clock.nowMs()),
    books: {
      balanced: Object.values(books.sumByUnit).every((sum) => sum === 0n),
      accounts: foldAccounts(books),
      differences: differences.length,
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
    alarms: rung,
    switches: Object.entries(switches).map(([name, { on, reason, changedBy, changedAt }]) => ({
      name,
      on,
      reason,
      changed_by: changedBy,
      changed_at: changedAt.toISOString(),
    })),
    audit: audit.map(({ happenedAt, actor, action, subject }) => ({
      at: happenedAt.toISOString(),
      actor,
      action,
      subject,
    })),
  }
}

/** Accounts of one kind of holder are summed: a page of ten thousand credits tells an operator nothing. */
export function foldAccounts({ rows }: Pick<TrialBalance, 'rows'>) {
  const folded = new Map<string, { group: string; kind: string; unit: string; balance: bigint; accounts: number }>()
  for (const { name, kind, unit, balanceMicro } of rows) {
    const group = (name.split('@')[0] ?? name).split(':')[0] ?? name
    const key = `${group} ${kind} ${unit}`
    const known = folded.get(key) ?? { group, kind, unit, balance: 0n, accounts: 0 }
    folded.set(key, { ...known, balance: known.balance + balanceMicro, accounts: known.accounts + 1 })
  }
  return [...folded.values()].map((row) => ({ ...row, balance: row.balance.toString() }))
}

async function readPaymentStates(sql: Sql) {
  const { rows } = await sql.query<{ state: string; payments: string; amount_micro: string; oldest: Date }>(
    `select state, count(*)::text as payments, sum(amount_micro)::text as amount_micro, min(claimed_at) as oldest
     from payment group by state order by state`,
  )
  return rows.map(({ state, payments, amount_micro, oldest }) => ({
    state,
    payments: Number(payments),
    amount_micro,
    oldest_at: oldest.toISOString(),
  }))
}

async function countReview(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ open: string }>(
    `select count(*)::text as open from inbound_review where state = 'open'`,
  )
  return Number(rows[0]?.open ?? 0)
}
