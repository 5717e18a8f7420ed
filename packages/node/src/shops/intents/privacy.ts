import type { Rng } from '@assay/till/kernel/random'
import type { Sql } from '@assay/till/store/database'
import type { Cell } from './count-demand.ts'
import { type Ratio, sampleDiscreteLaplace } from './discrete-laplace.ts'
import { bucketsPerDay, type IntentSettings } from './settings.ts'

/** The budget of a bucket, split over the three kinds of figures that are made from the same searches. */
const shares = { demand: 2n, bonded: 2n, words: 1n } as const
const allShares = 5n
const wordsMax = 5

export type Figure = keyof typeof shares

/** Millionths of epsilon that one bucket spends. */
export function bucketEpsilonMicro(settings: IntentSettings): bigint {
  const micro = settings.epsilonDailyMicro / bucketsPerDay(settings)
  if (micro < allShares) throw new RangeError('INTENTS: epsilon_daily is too small for so many buckets a day')
  return micro
}

/** An agent moves each kind of figure by at most one in each of its clusters: that is what the noise has to hide. */
export function noiseRate(settings: IntentSettings, figure: Figure): Ratio {
  return reduced({
    num: bucketEpsilonMicro(settings) * shares[figure],
    den: allShares * 1_000_000n * BigInt(settings.clustersPerAgent),
  })
}

function reduced({ num, den }: Ratio): Ratio {
  let [a, b] = [num, den]
  while (b > 0n) [a, b] = [b, a % b]
  return { num: num / a, den: den / a }
}

/** What may be said about a cell; undefined when too few agents stand behind it. */
export type NoisyCell = {
  cluster: string
  demand: number
  bonded: number | null
  words: { word: string; demand: number }[]
}

/** Few agents are hidden by silence, many by noise; a figure below the threshold is never shown, wherever it comes from. */
export function addNoise(rng: Rng, settings: IntentSettings, cell: Cell): NoisyCell | undefined {
  const noisy = (count: number, figure: Figure): number | null => {
    if (count < settings.k) return null
    const value = count + sampleDiscreteLaplace(rng, noiseRate(settings, figure))
    return value < settings.k ? null : value
  }
  const demand = noisy(cell.agents, 'demand')
  if (demand === null) return undefined
  const words = [...cell.words].flatMap(([word, count]) => {
    const value = noisy(count, 'words')
    return value === null ? [] : [{ word, demand: value }]
  })
  return {
    cluster: cell.cluster,
    demand,
    bonded: noisy(cell.bonded, 'bonded'),
    words: words.sort((a, b) => b.demand - a.demand || (a.word < b.word ? -1 : 1)).slice(0, wordsMax),
  }
}

/** Takes the bucket's share from the day's budget; false when the day has told enough. */
export async function spendBudget(sql: Sql, settings: IntentSettings, startsAtMs: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into intent_budget as b (day, spent_micro, cap_micro)
     values (($1::timestamptz at time zone 'UTC')::date, $2, $3)
     on conflict (day) do update set spent_micro = b.spent_micro + excluded.spent_micro
       where b.spent_micro + excluded.spent_micro <= b.cap_micro`,
    [new Date(startsAtMs), bucketEpsilonMicro(settings), settings.epsilonDailyMicro],
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

const statements = new WeakMap<IntentSettings, ReturnType<typeof makeStatement>>()

/** Said in every event, so it is made once. */
export function privacyStatement(settings: IntentSettings): ReturnType<typeof makeStatement> {
  const known = statements.get(settings) ?? makeStatement(settings)
  statements.set(settings, known)
  return known
}

function makeStatement(settings: IntentSettings) {
  const scaleOf = (figure: Figure) => {
    const { num, den } = noiseRate(settings, figure)
    return Math.round((Number(den) / Number(num)) * 1000) / 1000
  }
  return {
    k: settings.k,
    unit: 'one agent, which is all wallets of one cluster; the day adds up its buckets',
    contribution: { per_cluster: 1, clusters: settings.clustersPerAgent },
    mechanism: 'discrete_laplace',
    epsilon_bucket: epsilonText(bucketEpsilonMicro(settings)),
    epsilon_daily: epsilonText(settings.epsilonDailyMicro),
    noise_scale: { demand: scaleOf('demand'), bonded: scaleOf('bonded'), terms: scaleOf('words') },
    threshold: `a figure with fewer than ${settings.k} agents is left out before noise is added: that it is left out is not covered by epsilon`,
  }
}
