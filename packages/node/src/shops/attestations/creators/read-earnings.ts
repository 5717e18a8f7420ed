import type { Address } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import type { Sql } from '@assay/till/store/database'

export const earningKeys = ['page', 'payer', 'day'] as const
export type EarningKey = (typeof earningKeys)[number]

export type Earning = {
  key: string
  domain: string | null
  citations: number
  earned_micro: string
  earned_usd: string
}

/** `after`: the last key of the page before. */
export type EarningsAsked = { by: EarningKey; from: Date; until: Date; after?: string | undefined; limit: number }

const columns: Record<EarningKey, string> = {
  page: 'coalesce(page, domain)',
  payer: 'payer',
  day: `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`,
}

/** What a wallet earned, by page, payer or day (UTC); what was reversed counts as reversed. In order of the key. */
export async function readEarnings(sql: Sql, wallet: Address, asked: EarningsAsked): Promise<Earning[]> {
  const { by, from, until, after, limit } = asked
  const { rows } = await sql.query<{ key: string; domains: bigint; domain: string; citations: bigint; micro: bigint }>(
    `select key, count(distinct domain) as domains, min(domain) as domain, count(*) filter (where micro > 0) as citations, sum(micro)::bigint as micro
     from (select ${columns[by]} as key, domain, micro from creator_accrual
       where wallet = $1 and state in ('accrued', 'committing', 'committed') and created_at >= $2 and created_at < $3) as shares
     where $4::text is null or key > $4 collate "C" group by key order by key collate "C" limit $5`,
    [wallet, from, until, after ?? null, limit],
  )
  return rows.map(({ key, domains, domain, citations, micro }) => ({
    key,
    domain: domains === 1n ? domain : null,
    citations: Number(citations),
    earned_micro: String(micro),
    earned_usd: formatUsd(micro),
  }))
}
