import type { Sql } from '@assay/till/store/database'
import { accuracyOf, bucketEpsilonMicro, type Plan } from './plan.ts'
import type { IntentSettings } from './settings.ts'

/** Takes the bucket's share from the day's budget; false when the day's budget is spent. */
export async function spendBudget(
  sql: Sql,
  settings: IntentSettings,
  plan: Plan,
  startsAtMs: number,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into intent_budget as b (day, spent_micro, cap_micro)
     values (($1::timestamptz at time zone 'UTC')::date, $2, $3)
     on conflict (day) do update set spent_micro = b.spent_micro + excluded.spent_micro
       where b.spent_micro + excluded.spent_micro <= b.cap_micro`,
    [new Date(startsAtMs), bucketEpsilonMicro(settings, plan), settings.epsilonDailyMicro],
  )
  return rowCount > 0
}

export async function readBudget(
  sql: Sql,
  atMs: number,
): Promise<{ spentMicro: bigint; capMicro: bigint } | undefined> {
  const { rows } = await sql.query<{ spent_micro: bigint; cap_micro: bigint }>(
    `select spent_micro, cap_micro from intent_budget where day = ($1::timestamptz at time zone 'UTC')::date`,
    [new Date(atMs)],
  )
  return rows[0] && { spentMicro: rows[0].spent_micro, capMicro: rows[0].cap_micro }
}

/** Six decimals at most, without those that say nothing. */
export const epsilonText = (micro: bigint): string => String(Number(micro) / 1_000_000)

type Statement = ReturnType<typeof makeStatement>
const statements = new WeakMap<IntentSettings, Map<string, Statement>>()

/** Said in every event, so it is made once for each plan. */
export function privacyStatement(settings: IntentSettings, plan: Plan): Statement {
  const known = statements.get(settings) ?? new Map<string, Statement>()
  statements.set(settings, known)
  const key = `${plan.bucketMs} ${plan.tiers}`
  const statement = known.get(key) ?? makeStatement(settings, plan)
  known.set(key, statement)
  return statement
}

function makeStatement(settings: IntentSettings, plan: Plan) {
  const { scale, demandError, bondedError, wordError, least } = accuracyOf(settings, plan)
  return {
    k: settings.k,
    unit: 'one agent, which is all wallets of one cluster; the day adds up its buckets',
    contribution: 'once a bucket, for one topic and those above it',
    mechanism: 'discrete_laplace',
    epsilon_bucket: epsilonText(bucketEpsilonMicro(settings, plan)),
    epsilon_daily: epsilonText(settings.epsilonDailyMicro),
    bucket_seconds: plan.bucketMs / 1000,
    tiers: plan.tiers,
    noise_scale: scale,
    error_95: { demand: demandError, bonded: bondedError, terms: wordError },
    threshold: least,
  }
}
