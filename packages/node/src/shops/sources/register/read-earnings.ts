import type { Sql } from '@assay/till/store/database'

/** Totals of what citations earned for a domain, no matter who was its payee then. */
export async function readEarnings(
  sql: Sql,
  domain: string,
): Promise<{ citations: number; earned_micro: string; paid_micro: string }> {
  const { rows } = await sql.query<{ citations: bigint; earned_micro: bigint; paid_micro: bigint }>(
    'select citations, earned_micro, paid_micro from source_usage where domain = $1',
    [domain],
  )
  const [row] = rows
  return {
    citations: Number(row?.citations ?? 0),
    earned_micro: String(row?.earned_micro ?? 0),
    paid_micro: String(row?.paid_micro ?? 0),
  }
}
