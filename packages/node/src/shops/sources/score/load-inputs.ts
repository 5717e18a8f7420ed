import { parseAddress } from '@assay/protocol/address'
import { writeAudit } from '@assay/till/store/audit-log'
import type { Database, Tx } from '@assay/till/store/database'
import { reaggregateTrust } from './aggregate-citations.ts'
import { refreshWeights } from './refresh-weights.ts'

export type RankLine = { domain: string; position: number }

/** Tranco and the like (`rank,domain`), or Common Crawl domain ranks (tab-separated, reversed host in the fifth column). */
export function parseRankLine(line: string): RankLine | undefined {
  const columns = line.split('\t')
  const [position = '', name = ''] =
    columns.length >= 5
      ? [columns[0] ?? '', (columns[4] ?? '').split('.').reverse().join('.')]
      : line.split(',').map((part) => part.trim())
  const domain = name.toLowerCase()
  if (
    !/^[1-9]\d{0,11}$/.test(position) ||
    !/^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/.test(domain) ||
    domain.length > 253
  )
    return undefined
  return { domain, position: Number(position) }
}

const batch = 10_000

/** Replaces the list in one transaction; every source is scored again. */
export async function loadRanks(
  database: Database,
  input: { text: string; name: string; asOf: string; licence: string; actor: string },
): Promise<{ entries: number; skipped: number }> {
  const ranks = new Map<string, number>()
  let skipped = 0
  for (const line of input.text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const parsed = parseRankLine(line.trimEnd())
    if (!parsed) skipped += 1
    else if (!ranks.has(parsed.domain)) ranks.set(parsed.domain, parsed.position)
  }
  const all = [...ranks]
  await database.transaction(async (tx) => {
    await tx.query('delete from external_rank')
    for (let start = 0; start < all.length; start += batch) {
      const part = all.slice(start, start + batch)
      await tx.query('insert into external_rank (domain, position) select * from unnest($1::text[], $2::bigint[])', [
        part.map(([domain]) => domain),
        part.map(([, position]) => position),
      ])
    }
    await tx.query(
      `insert into external_rank_list (name, as_of, licence, entries, loaded_at) values ($1, $2, $3, $4, now())
       on conflict (only_one) do update set name = excluded.name, as_of = excluded.as_of, licence = excluded.licence, entries = excluded.entries, loaded_at = excluded.loaded_at`,
      [input.name, input.asOf, input.licence, Math.max(all.length, ...all.slice(-1).map(([, position]) => position))],
    )
    await scoreAgain(tx, input.actor, 'score.ranks', { name: input.name, entries: all.length })
  })
  return { entries: all.length, skipped }
}

/** Agents trusted without a bond. Who is no longer on the list falls back to what a bond or its spending gives. */
export async function loadSeeds(
  database: Database,
  input: { text: string; actor: string; nowMs: number },
): Promise<{ seeds: number; skipped: number }> {
  const lines = input.text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const seeds = [...new Set(lines.flatMap((line) => parseAddress(line) ?? []))]
  await database.transaction(async (tx) => {
    await tx.query('update citing_agent set seed = false where seed and not agent = any($1)', [seeds])
    await tx.query(
      `insert into citing_agent (agent, cluster, seed, first_seen_at) select agent, agent, true, now() from unnest($1::text[]) as t(agent)
       on conflict (agent) do update set seed = true`,
      [seeds],
    )
    await refreshWeights(tx, new Date(input.nowMs))
    await reaggregateTrust(tx, new Date(input.nowMs))
    await scoreAgain(tx, input.actor, 'score.seeds', { seeds: seeds.length })
  })
  return { seeds: seeds.length, skipped: lines.length - seeds.length }
}

async function scoreAgain(
  tx: Tx,
  actor: string,
  action: string,
  details: Record<string, string | number>,
): Promise<void> {
  await tx.query('update source set score_wanted_at = coalesce(score_wanted_at, now())')
  await writeAudit(tx, { actor, action, subject: 'citescore', details })
}
