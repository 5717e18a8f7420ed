import type { Address } from '@assay/protocol/address'
import type { Sql, Tx } from '@assay/till/store/database'
import type { PartyTally, Tally, WalletEvidence } from './evidence.ts'

export type TallyRow = {
  wallet: Address
  network: string
  settled: number | bigint
  settled_micro: string | bigint
  failed: number | bigint
  reversed: number | bigint
  refunded: number | bigint
  unattributed: number | bigint
  self_dealt: number | bigint
  active_days: number
  last_day: string | null
  first_at: string | Date
  last_at: string | Date
  counts_since: string | Date | null
}

export type PartyRow = {
  wallet: Address
  network: string
  party: Address
  settled: number | bigint
  micro: string | bigint
  weight: number
  day: string
  day_count: number
}

/** Days as text and big numbers as text: they travel through JSON as well. */
export const tallyColumns =
  'wallet, network, settled, settled_micro::text, failed, reversed, refunded, unattributed, self_dealt, active_days, last_day::text, first_at, last_at, counts_since'
export const partyColumns = 'wallet, network, party, settled, micro::text, weight, day::text, day_count'

export const evidenceKey = (wallet: Address, network: string) => `${wallet} ${network}`

const msOf = (time: string | Date) => new Date(time).getTime()

function toTally(row: TallyRow): Tally {
  return {
    settled: Number(row.settled),
    settledMicro: BigInt(row.settled_micro),
    failed: Number(row.failed),
    reversed: Number(row.reversed),
    refunded: Number(row.refunded),
    unattributed: Number(row.unattributed),
    selfDealt: Number(row.self_dealt),
    activeDays: row.active_days,
    lastDay: row.last_day,
    firstAtMs: msOf(row.first_at),
    lastAtMs: msOf(row.last_at),
    countsSinceMs: row.counts_since === null ? null : msOf(row.counts_since),
  }
}

const toParty = (row: PartyRow): PartyTally => ({
  settled: Number(row.settled),
  micro: BigInt(row.micro),
  weight: row.weight,
  day: row.day,
  dayCount: row.day_count,
})

/** Evidence by wallet and network. */
export function gatherEvidence(
  tallies: readonly TallyRow[],
  parties: readonly PartyRow[],
): Map<string, WalletEvidence> {
  const found = new Map<string, WalletEvidence>()
  for (const row of tallies)
    found.set(evidenceKey(row.wallet, row.network), { tally: toTally(row), parties: new Map() })
  for (const row of parties) found.get(evidenceKey(row.wallet, row.network))?.parties.set(row.party, toParty(row))
  return found
}

/** Only the parties that the new events touch are needed to go on counting. */
export async function loadEvidence(
  sql: Sql,
  wallets: readonly Address[],
  parties: readonly Address[],
): Promise<Map<string, WalletEvidence>> {
  const tallies = await sql.query<TallyRow>(`select ${tallyColumns} from agent_rating where wallet = any($1)`, [
    wallets,
  ])
  const known = await sql.query<PartyRow>(
    `select ${partyColumns} from agent_rating_party where wallet = any($1) and party = any($2)`,
    [wallets, parties],
  )
  return gatherEvidence(tallies.rows, known.rows)
}

export type Touched = { wallet: Address; network: string; evidence: WalletEvidence }

/** Whole rows, as they are now: the caller holds the cursor, so nobody else writes them. */
export async function saveEvidence(tx: Tx, touched: readonly Touched[]): Promise<void> {
  await tx.query(
    `insert into agent_rating (wallet, network, settled, settled_micro, failed, reversed, refunded, unattributed, self_dealt, active_days, last_day, first_at, last_at, counts_since)
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::integer[], $11::date[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[])
     on conflict (wallet, network) do update set settled = excluded.settled, settled_micro = excluded.settled_micro, failed = excluded.failed,
       reversed = excluded.reversed, refunded = excluded.refunded, unattributed = excluded.unattributed, self_dealt = excluded.self_dealt,
       active_days = excluded.active_days, last_day = excluded.last_day, first_at = excluded.first_at, last_at = excluded.last_at,
       counts_since = excluded.counts_since`,
    [
      touched.map((one) => one.wallet),
      touched.map((one) => one.network),
      ...(
        [
          'settled',
          'settledMicro',
          'failed',
          'reversed',
          'refunded',
          'unattributed',
          'selfDealt',
          'activeDays',
        ] as const
      ).map((name) => touched.map((one) => one.evidence.tally[name].toString())),
      touched.map((one) => one.evidence.tally.lastDay),
      touched.map((one) => new Date(one.evidence.tally.firstAtMs)),
      touched.map((one) => new Date(one.evidence.tally.lastAtMs)),
      touched.map(({ evidence: { tally } }) => (tally.countsSinceMs === null ? null : new Date(tally.countsSinceMs))),
    ],
  )
  const parties = touched.flatMap(({ wallet, network, evidence }) =>
    [...evidence.parties].map(([party, counted]) => ({ wallet, network, party, ...counted })),
  )
  if (parties.length === 0) return
  await tx.query(
    `insert into agent_rating_party (wallet, network, party, settled, micro, weight, day, day_count)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::double precision[], $7::date[], $8::integer[])
     on conflict (wallet, network, party) do update set settled = excluded.settled, micro = excluded.micro, weight = excluded.weight,
       day = excluded.day, day_count = excluded.day_count`,
    [
      parties.map((one) => one.wallet),
      parties.map((one) => one.network),
      parties.map((one) => one.party),
      parties.map((one) => one.settled),
      parties.map((one) => one.micro.toString()),
      parties.map((one) => one.weight),
      parties.map((one) => one.day),
      parties.map((one) => one.dayCount),
    ],
  )
}
