import { fromHex, type Hex } from '../../kernel/bytes.ts'
import type { Sql } from '../../store/database.ts'

/** The text that a page had when a query offered it; undefined when that query did not, or is forgotten by now. */
export async function findMatched(
  sql: Sql,
  queryId: string,
  url: string,
): Promise<{ textSha256: Uint8Array } | undefined> {
  const { rows } = await sql.query<{ text_sha256: Hex }>(
    `select p->>'text_sha256' as text_sha256 from match_query, jsonb_array_elements(pages) p
     where id = $1 and p->>'url' = $2 limit 1`,
    [queryId, url],
  )
  return rows[0] && { textSha256: fromHex(rows[0].text_sha256) }
}
