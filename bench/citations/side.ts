// The node with settlement stubbed, and pages that can be cited.
import { serveNode } from '../sides/serve-node.ts'

await serveNode({}, ({ database }) => ({
  pages: async () => {
    const { rows } = await database.query<{ url: string }>(
      `select p.url from crawl_page p join source s on s.domain = p.domain
       where s.state = 'proven' and p.problem is null and p.text_sha256 is not null order by p.url limit 20`,
    )
    return rows.map(({ url }) => url)
  },
  books: async () => {
    const { rows } = await database.query<{ attested: bigint; logged: bigint }>(
      `select (select count(*) from attestation) as attested,
         (select count(*) from log_entry where kind = 'citation' and leaf_index is not null) as logged`,
    )
    return { attested: Number(rows[0]?.attested), logged: Number(rows[0]?.logged) }
  },
}))
