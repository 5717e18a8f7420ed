import type { Address } from '@assay/protocol/address'
import type { Tx } from '@assay/till/store/database'

/** What a paid search costs: it is the operator's, and does not come back. */
const searchMicro = 1_000n
const keptDays = 6

/** Adds the searches of a bucket to those of the six days before it, and gives what each wallet has spent in all of them. */
export async function tallySpend(
  tx: Tx,
  searches: readonly { payer: Address }[],
  startsAtMs: number,
): Promise<Map<Address, bigint>> {
  if (searches.length === 0) return new Map()
  const counts = new Map<Address, number>()
  for (const { payer } of searches) counts.set(payer, (counts.get(payer) ?? 0) + 1)
  const day = new Date(startsAtMs)
  await tx.query(`delete from intent_spend where day < ($1::timestamptz at time zone 'UTC')::date - $2::integer`, [
    day,
    keptDays,
  ])
  await tx.query(
    `insert into intent_spend as s (day, payer, searches)
     select ($1::timestamptz at time zone 'UTC')::date, payer, searches from unnest($2::text[], $3::bigint[]) d (payer, searches)
     on conflict (payer, day) do update set searches = s.searches + excluded.searches`,
    [day, [...counts.keys()], [...counts.values()]],
  )
  const { rows } = await tx.query<{ payer: Address; searches: bigint }>(
    `select payer, sum(searches)::bigint as searches from intent_spend where payer = any($1) group by payer`,
    [[...counts.keys()]],
  )
  return new Map(rows.map(({ payer, searches: sum }) => [payer, sum * searchMicro]))
}
