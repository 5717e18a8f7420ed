import type { Clock } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'

export type FacilitatorBudget = {
  settlesPerPayerPerHour: number
  settlesPerAddressPerHour: number
  /** What settlements that failed may cost us per hour and caller. */
  lostGweiPerHour: bigint
}

export const defaultFacilitatorBudget: FacilitatorBudget = {
  settlesPerPayerPerHour: 120,
  settlesPerAddressPerHour: 2_000,
  lostGweiPerHour: 10_000_000n,
}

export type BudgetUse = { payer: string; address: string }

const hourOf = (clock: Clock): Date => new Date(Math.floor(clock.nowMs() / 3_600_000) * 3_600_000)

/** Counts one settlement against payer and caller, in one statement; true while both are within their budget. */
export async function spendBudget(sql: Sql, clock: Clock, budget: FacilitatorBudget, use: BudgetUse): Promise<boolean> {
  const { rows } = await sql.query<{ scope: string; settles: number; gas_gwei: bigint }>(
    `insert into facilitator_budget as b (hour, scope, key, settles) values ($1, 'payer', $2, 1), ($1, 'address', $3, 1)
     on conflict (hour, scope, key) do update set settles = b.settles + 1 returning scope, settles, gas_gwei`,
    [hourOf(clock), use.payer, use.address],
  )
  return rows.every(
    (row) =>
      row.settles <= (row.scope === 'payer' ? budget.settlesPerPayerPerHour : budget.settlesPerAddressPerHour) &&
      BigInt(row.gas_gwei) < budget.lostGweiPerHour,
  )
}

export async function recordLostGas(sql: Sql, clock: Clock, use: BudgetUse, gasGwei: bigint): Promise<void> {
  await sql.query(
    `update facilitator_budget set gas_gwei = gas_gwei + $4
     where hour = $1 and ((scope = 'payer' and key = $2) or (scope = 'address' and key = $3))`,
    [hourOf(clock), use.payer, use.address, gasGwei],
  )
}

/** Budgets of past hours decide nothing any more. */
export async function deleteBudgets(sql: Sql, nowMs: number): Promise<void> {
  await sql.query(`delete from facilitator_budget where hour < $1`, [new Date(nowMs - 86_400_000)])
}
