import type { Hex } from '@assay/protocol/bytes'
import { fromHex } from '@assay/till/kernel/bytes'
import type { Sql } from '@assay/till/store/database'
import { pageAddress } from '../sources/domain/index.ts'

export async function findMatched(
  sql: Sql,
  queryId: string,
  url: string,
): Promise<{ textSha256: Uint8Array } | undefined> {
  const { rows } = await sql.query<{ url: string; text_sha256: Hex }>(
    `select p->>'url' as url, p->>'text_sha256' as text_sha256 from match_query, jsonb_array_elements(pages) p where id = $1`,
    [queryId],
  )
  // The crawler keeps addresses as sites write them, tracking parameters included.
  const wanted = pageAddress(url)
  const offered = rows.find((row) => pageAddress(row.url) === wanted)
  return offered && { textSha256: fromHex(offered.text_sha256) }
}
