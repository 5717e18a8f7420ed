import type { Address } from '@assay/protocol/address'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import { fundingClusters } from '../attestations/index.ts'
import { createClassifier } from './classify.ts'
import { createClusterTable } from './clusters.ts'
import type { IntentDeps, WalletFacts } from './deps.ts'
import { seededRng } from './rng.fixture.ts'
import { parseIntentSettings } from './settings.ts'

export const clusterTable = createClusterTable()
const classifier = createClassifier(clusterTable)

/** Bonds without an end, as the trust figures have them: one row says both cluster and bond. */
const citingFacts: WalletFacts = {
  fundingClusters,
  activeBonds: async (sql, wallets) => {
    const { rows } = await sql.query<{ agent: Address; bond_micro: bigint }>(
      'select agent, bond_micro from citing_agent where bond_micro > 0 and ($1::text[] is null or agent = any($1))',
      [wallets === 'all' ? null : wallets],
    )
    return new Map(rows.map((row) => [row.agent, { micro: row.bond_micro, lockedUntilMs: Number.MAX_SAFE_INTEGER }]))
  },
  interested: async () => [],
}

/** A clock that stays at the time it was set to. */
export function fixedClock(nowMs: number): Clock & { set(ms: number): void } {
  let now = nowMs
  return { ...systemClock, nowMs: () => now, set: (ms) => (now = ms) }
}

export type Counted = { name: string; labels: Record<string, string> }

export function intentDeps(
  database: IntentDeps['database'],
  clock: Clock,
  settings: Record<string, unknown> = {},
  counted: Counted[] = [],
): IntentDeps {
  const metrics: Metrics = {
    count: (name, labels = {}) => void counted.push({ name, labels }),
    gauge: () => {},
    observeMs: () => {},
  } as Metrics
  return {
    database,
    clock,
    rng: seededRng(41),
    log: silentLog,
    metrics,
    jws: { sign: () => 'a.b.c', verify: () => undefined },
    apiUrl: 'http://node.test',
    demo: false,
    settings: parseIntentSettings(
      { epsilon_daily: 100_000, bucket_seconds: 3_600, spend_usd: '0', ...settings },
      false,
    ),
    clusterTable,
    classifier,
    walletFacts: citingFacts,
  }
}

/** Searches of `agents` wallets at set times. */
export async function insertSearches(
  { database }: Pick<IntentDeps, 'database'>,
  agents: number,
  query: string,
  atMs: number,
  firstWallet = 1,
): Promise<void> {
  await database.query(
    `insert into match_query (id, payer, query, pages, synthetic, asked_at)
     select 'qry_' || gen_random_uuid(), '0x' || lpad(to_hex(n), 40, '0'), $2, '[]', false, $3
     from generate_series($4::int, $4::int + $1::int - 1) n`,
    [agents, query, new Date(atMs), firstWallet],
  )
}
