import type { PeerKey } from '@assay/protocol/mesh/statement'
import type { Rng } from '@assay/till/kernel/random'
import type { Sql } from '@assay/till/store/database'
import { chooseShown, type Placed } from './choose-peers.ts'
import { type RegisteredSql, weighPeers } from './weigh-peers.ts'

export type PeerState = 'candidate' | 'alive' | 'suspect' | 'dead'

/** Why a stated price is not believed. `asked_micro` is null where nothing was asked for. */
export type PriceMismatch = {
  capability: string
  method: string
  stated_micro: string
  asked_micro: string | null
  reason: 'asks_another_price' | 'manifest_differs' | 'not_offered' | 'not_signed'
  seen_at: string
}

export type PeerRow = {
  did: string
  address: string
  state: PeerState
  foundBy: 'seed' | 'announce' | 'gossip'
  sequence: number
  statement: string | undefined
  keys: readonly PeerKey[]
  keysReadAtMs: number
  networkAddress: string | undefined
  firstSeenAtMs: number | undefined
  lastSeenAtMs: number | undefined
  failures: number
  health: number
  latencyMs: number | undefined
  announcedAtMs: number
  priceMismatches: readonly PriceMismatch[]
  /** Why the last visit failed. */
  problem: string | undefined
  /** What its own 402 asked when it was last checked, by method and capability; "0" for what was answered free. */
  askedMicro: Readonly<Record<string, string>>
  /** Its prices were checked and nothing was wrong. */
  proven: boolean
  operator: string | undefined
  /** What its operator put at stake or paid here; 0 until it is asked for. */
  weight: number
  changesReadMs: number
  evidenceReadMs: number
  agentsReadMs: number
  /** When evidence and agents were last asked for. */
  reportsReadAtMs: number
}

export type RawPeer = {
  did: string
  address: string
  state: PeerState
  found_by: PeerRow['foundBy']
  sequence: bigint
  statement: string | null
  keys: PeerKey[]
  keys_read_at: Date | null
  network_address: string | null
  first_seen_at: Date | null
  last_seen_at: Date | null
  failures: number
  health: number
  latency_ms: number | null
  announced_at: Date | null
  price_mismatches: PriceMismatch[]
  problem: string | null
  prices_checked_at: Date | null
  asked_micro: Record<string, string>
  operator: string | null
  changes_read_ms: bigint
  evidence_read_ms: bigint
  agents_read_ms: bigint
  reports_read_at: Date | null
}

export const columns = `did, address, state, found_by, sequence, statement, keys, keys_read_at, network_address, first_seen_at,
  last_seen_at, failures, health, latency_ms, announced_at, price_mismatches, prices_checked_at, asked_micro, problem, operator,
  changes_read_ms, evidence_read_ms, agents_read_ms, reports_read_at`

export function peerOf(raw: RawPeer): PeerRow {
  return {
    did: raw.did,
    address: raw.address,
    state: raw.state,
    foundBy: raw.found_by,
    sequence: Number(raw.sequence),
    statement: raw.statement ?? undefined,
    keys: raw.keys,
    keysReadAtMs: raw.keys_read_at?.getTime() ?? 0,
    networkAddress: raw.network_address ?? undefined,
    firstSeenAtMs: raw.first_seen_at?.getTime(),
    lastSeenAtMs: raw.last_seen_at?.getTime(),
    failures: raw.failures,
    health: Number(raw.health),
    latencyMs: raw.latency_ms === null ? undefined : Number(raw.latency_ms),
    announcedAtMs: raw.announced_at?.getTime() ?? 0,
    priceMismatches: raw.price_mismatches,
    problem: raw.problem ?? undefined,
    askedMicro: raw.asked_micro,
    proven: raw.prices_checked_at !== null && raw.price_mismatches.length === 0,
    operator: raw.operator ?? undefined,
    weight: 0,
    changesReadMs: Number(raw.changes_read_ms),
    evidenceReadMs: Number(raw.evidence_read_ms),
    agentsReadMs: Number(raw.agents_read_ms),
    reportsReadAtMs: raw.reports_read_at?.getTime() ?? 0,
  }
}

export const at = (place: number) => `to_timestamp($${place}::float8 / 1000)`

export async function findPeer(sql: Sql, did: string): Promise<PeerRow | undefined> {
  const { rows } = await sql.query<RawPeer>(`select ${columns} from mesh_peer where did = $1`, [did])
  return rows[0] && peerOf(rows[0])
}

const hasPlace = `state in ('alive', 'suspect')`
const isKnown = '(did, sequence) in (select * from unnest($2::text[], $3::bigint[]))'

/** A node is not shown while buyers have evidence against it. */
const listed = `${hasPlace} and expires_at > ${at(1)} and coalesce(dropped_until, 'epoch') <= ${at(1)}`

export type ShownDeps = { database: Sql; registeredSql: RegisteredSql; rng: Rng }

export type KnownStatement = { did: string; sequence: number; statement: string }

/**
 * The peers listed to others: seen by this node, with a statement that has not expired, chosen for their diversity.
 * Statements that are known by their sequence, of which there is one each, are not read again.
 */
export async function shownPeers(
  { database, registeredSql, rng }: ShownDeps,
  nowMs: number,
  limit: number,
  known: readonly KnownStatement[] = [],
): Promise<PeerRow[]> {
  const text = columns.replace(' statement,', ` case when ${isKnown} then null else statement end as statement,`)
  const statements = new Map(known.map(({ did, statement }) => [did, statement]))
  const read = async (where: string, ...more: unknown[]) => {
    const given = [nowMs, known.map(({ did }) => did), known.map(({ sequence }) => sequence), ...more]
    const found = `select ${text}, ${listed} as listed from mesh_peer where ${where}`
    const { rows } = await database.query<RawPeer & { listed: boolean }>(found, given)
    return rows.map((raw) => ({
      ...peerOf({ ...raw, statement: raw.statement ?? statements.get(raw.did) ?? null }),
      listed: raw.listed,
    }))
  }
  const all = await read(`${hasPlace} limit $4`, limit + 1)
  if (all.length <= limit) {
    const weighed = await weighPeers(database, registeredSql, all)
    return chooseShown(
      weighed.filter((peer) => peer.listed),
      limit,
      nowMs,
      rng,
    )
  }
  const live = await placedPeers(database, registeredSql)
  const weights = new Map(live.map(({ did, weight }) => [did, weight]))
  const chosen = chooseShown(live, limit, nowMs, rng).map(({ did }) => did)
  const peers = (await read(`did = any($4) and ${listed}`, chosen)).map((peer) => ({
    ...peer,
    weight: weights.get(peer.did) ?? 0,
  }))
  return chooseShown(peers, limit, nowMs, rng)
}

/** All that offer a capability, over everybody known: those with a seen price and the longest known first. */
export async function peersOffering(sql: Sql, capability: string, nowMs: number, limit: number): Promise<PeerRow[]> {
  const { rows } = await sql.query<RawPeer>(
    `select ${columns} from mesh_peer where capabilities @> array[$2::text] and ${listed}
     order by prices_checked_at is null, price_mismatches <> '[]', first_seen_at, did limit $3`,
    [nowMs, capability, limit],
  )
  return rows.map(peerOf)
}

/** Statements that changed here since then, oldest first. */
export async function changedPeers(
  sql: Sql,
  { sinceMs, nowMs, limit }: { sinceMs: number; nowMs: number; limit: number },
): Promise<{ did: string; address: string; sequence: number; statement: string; changedMs: number }[]> {
  const { rows } = await sql.query<RawPeer & { changed_at: Date; statement: string }>(
    `select did, address, sequence, statement, changed_at from mesh_peer
     where changed_at > ${at(2)} and ${listed} order by changed_at limit $3`,
    [nowMs, sinceMs, limit],
  )
  return rows.map(({ did, address, sequence, statement, changed_at }) => ({
    ...{ did, address, statement },
    sequence: Number(sequence),
    changedMs: changed_at.getTime(),
  }))
}

/** The shown peers at these authorities: one at most for each and scheme. */
export async function findByAuthorities(sql: Sql, authorities: readonly string[], nowMs: number): Promise<PeerRow[]> {
  if (authorities.length === 0) return []
  const { rows } = await sql.query<RawPeer>(`select ${columns} from mesh_peer where address = any($2) and ${listed}`, [
    nowMs,
    authorities.flatMap((authority) => [`https://${authority}`, `http://${authority}`]),
  ])
  return rows.map(peerOf)
}

/** A process that gives places waits here for the one before. */
export async function lockPlaces(tx: Sql): Promise<void> {
  await tx.query('select from mesh_self for update')
}

/** Those that have a place, without their statements. */
export async function placedPeers(sql: Sql, registered: RegisteredSql): Promise<Placed[]> {
  return (await weighNewcomers(sql, registered, [])).placed
}

/** The same, and of those that arrive the ones without a place; what an operator has at stake weighs for the peer that is here already. */
export async function weighNewcomers(sql: Sql, registered: RegisteredSql, arrived: readonly Placed[]) {
  const { rows } = await sql.query<RawPeer>(
    `select did, address, found_by, network_address, first_seen_at, health, prices_checked_at, price_mismatches, operator
     from mesh_peer where state in ('alive', 'suspect')`,
  )
  const here = new Set(rows.map(({ did }) => did))
  const strangers = arrived.filter(({ did }) => !here.has(did))
  const weighed = await weighPeers<Placed>(sql, registered, [...rows.map(peerOf), ...strangers])
  return { placed: weighed.slice(0, rows.length), newcomers: weighed.slice(rows.length) }
}

export async function evictPeer(sql: Sql, did: string): Promise<void> {
  await sql.query(`update mesh_peer set state = 'dead', problem = 'another peer has its place' where did = $1`, [did])
}

export type Seen = {
  did: string
  address: string
  foundBy: PeerRow['foundBy']
  sequence: number
  statement: string
  expiresAtMs: number
  keys: readonly PeerKey[]
  keysReadAtMs: number
  networkAddress: string | undefined
  operator: string | undefined
  capabilities: readonly string[]
  latencyMs: number | undefined
  /** It says what the last one said, for longer, and need not be passed on. */
  onlyRenewed?: boolean
}

const smoothing = 0.3

/** Verified statements from the peers themselves, one of each; the names of those that were kept: not where a newer one, or another of the same sequence, is known. */
export async function saveSeen(
  sql: Sql,
  seen: readonly (Seen & { nextVisitMs: number })[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  if (seen.length === 0) return new Set()
  const { rows } = await sql.query<{ did: string }>(
    `insert into mesh_peer as p (did, address, state, found_by, found_at, sequence, statement, expires_at, keys,
       keys_read_at, network_address, next_visit_at, first_seen_at, last_seen_at, health, latency_ms, operator,
       capabilities)
     select did, address, 'alive', "foundBy", ${at(2)}, sequence, statement, to_timestamp("expiresAtMs" / 1000), keys,
       to_timestamp("keysReadAtMs" / 1000), "networkAddress", to_timestamp("nextVisitMs" / 1000), ${at(2)}, ${at(2)}, 1, "latencyMs",
       operator, capabilities
     from jsonb_to_recordset($1) as n (did text, address text, "foundBy" text, sequence bigint, statement text,
       "expiresAtMs" float8, keys jsonb, "keysReadAtMs" float8, "networkAddress" text, "nextVisitMs" float8,
       "latencyMs" real, operator text, capabilities text[])
     on conflict (did) do update set state = 'alive', address = excluded.address, sequence = excluded.sequence,
       statement = excluded.statement, expires_at = excluded.expires_at, keys = excluded.keys,
       keys_read_at = excluded.keys_read_at, network_address = coalesce(excluded.network_address, p.network_address),
       next_visit_at = excluded.next_visit_at, operator = excluded.operator, capabilities = excluded.capabilities,
       changed_at = case when p.statement <> excluded.statement and p.did <> all($3) then ${at(2)} else p.changed_at end,
       first_seen_at = coalesce(p.first_seen_at, excluded.first_seen_at), last_seen_at = excluded.last_seen_at, failures = 0, problem = null,
       health = case when p.last_seen_at is null then 1 else p.health + ${smoothing} * (1 - p.health) end,
       latency_ms = case when p.latency_ms is null or excluded.latency_ms is null
         then coalesce(excluded.latency_ms, p.latency_ms)
         else p.latency_ms + ${smoothing} * (excluded.latency_ms - p.latency_ms) end
     where p.sequence < excluded.sequence or p.statement = excluded.statement
     returning did`,
    [JSON.stringify(seen), nowMs, seen.filter(({ onlyRenewed }) => onlyRenewed).map(({ did }) => did)],
  )
  return new Set(rows.map(({ did }) => did))
}

export type SeenAgain = Pick<Seen, 'did' | 'sequence' | 'keysReadAtMs' | 'latencyMs'> & { changesReadMs: number }

/** A peer that lives said the same as before, under keys that were read before. False when that is not what is known of it. */
export async function saveSeenAgain(sql: Sql, seen: SeenAgain, nowMs: number, nextVisitMs: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update mesh_peer set state = 'alive', last_seen_at = ${at(2)}, next_visit_at = ${at(3)}, failures = 0, problem = null,
       health = health + ${smoothing} * (1 - health), latency_ms = coalesce(latency_ms + ${smoothing} * ($4::real - latency_ms), latency_ms, $4::real), changes_read_ms = $7
     where did = $1 and state in ('alive', 'suspect') and sequence = $5 and keys_read_at = ${at(6)}`,
    [seen.did, nowMs, nextVisitMs, seen.latencyMs ?? null, seen.sequence, seen.keysReadAtMs, seen.changesReadMs],
  )
  return rowCount === 1
}

export type ReportsRead = { nowMs: number; evidenceMs: number; agentsMs: number }

export async function markReportsRead(sql: Sql, did: string, read: ReportsRead): Promise<void> {
  await sql.query(
    `update mesh_peer set evidence_read_ms = $2, agents_read_ms = $3, reports_read_at = ${at(4)} where did = $1`,
    [did, read.evidenceMs, read.agentsMs, read.nowMs],
  )
}

export async function hidePeer(sql: Sql, did: string, untilMs: number): Promise<void> {
  await sql.query(
    `update mesh_peer set dropped_until = greatest(dropped_until, ${at(2)}), problem = 'it asks buyers another price than it states'
     where did = $1`,
    [did, untilMs],
  )
}

export type Missed = { did: string; problem: string; state: PeerState; nextVisitMs: number }

export async function saveMissed(sql: Sql, { did, problem, state, nextVisitMs }: Missed): Promise<void> {
  await sql.query(
    `update mesh_peer set failures = failures + 1, health = health * ${1 - smoothing}, problem = $2, state = $3,
       next_visit_at = ${at(4)} where did = $1`,
    [did, problem.slice(0, 200), state, nextVisitMs],
  )
}

export async function recordAnnounced(sql: Sql, did: string, nowMs: number): Promise<void> {
  await sql.query(`update mesh_peer set announced_at = ${at(2)} where did = $1`, [did, nowMs])
}

/** The peer whose prices were checked longest ago, if that is long enough. */
export async function takePriceCheck(sql: Sql, nowMs: number, everyMs: number): Promise<PeerRow | undefined> {
  const { rows } = await sql.query<RawPeer>(
    `update mesh_peer set prices_checked_at = ${at(1)}
     where did = (select did from mesh_peer where state = 'alive' and coalesce(prices_checked_at, 'epoch') <= ${at(2)}
                  order by prices_checked_at nulls first limit 1 for update skip locked)
     returning ${columns}`,
    [nowMs, nowMs - everyMs],
  )
  return rows[0] && peerOf(rows[0])
}

export async function savePrices(
  sql: Sql,
  did: string,
  found: { mismatches: readonly PriceMismatch[]; askedMicro: Readonly<Record<string, string>> },
): Promise<void> {
  await sql.query('update mesh_peer set price_mismatches = $2, asked_micro = $3 where did = $1', [
    did,
    JSON.stringify(found.mismatches),
    JSON.stringify(found.askedMicro),
  ])
}
