import type { Outbound } from '../../packages/node/src/outbound/index.ts'
import type { Sql } from '../../packages/till/src/store/database.ts'

/**
 * Sites that are cited. `owner` counts creators first and buyers after them: one site belongs to a buyer, who may so be
 * paid for citing himself, and of one nobody has proven to be the owner.
 */
export const sites = [
  { host: 'alpha.test', owner: 0 },
  { host: 'beta.test', owner: 1 },
  { host: 'own.test', owner: 2 },
  { host: 'nobodys.test', owner: undefined },
] as const

const encoder = new TextEncoder()

/** What the node may fetch: every page of every site, always the same. */
export const simulatedWeb: Outbound = {
  fetch: async (url) => {
    const { hostname, pathname } = new URL(url)
    const page = `<html><body><article><h1>${hostname}</h1><p>Words at ${pathname} that somebody cites.</p></article></body></html>`
    const known = sites.some(({ host }) => host === hostname) && pathname !== '/robots.txt'
    return {
      status: 'ok',
      httpStatus: known ? 200 : 404,
      headers: new Map([['content-type', 'text/html']]),
      bytes: encoder.encode(known ? page : 'not found'),
      cut: false,
      url,
      redirectedFrom: [],
      address: '127.0.0.1',
      secure: false,
    }
  },
}

/** How a domain is proven is other tests' business; here it simply was, before the first day. */
export async function proveSites(owner: Sql, wallets: readonly string[], nowMs: number): Promise<void> {
  for (const site of sites) {
    if (site.owner === undefined) continue
    const values = [site.host, wallets[site.owner]?.toLowerCase(), new Date(nowMs - 86_400_000), `clm_${site.host}`]
    await owner.query(
      `insert into source (domain, registrable, display, origin, state, registered_at, updated_at)
       values ($1, $1, $1, 'http://' || $1, 'proven', $2, $2)`,
      [values[0], values[2]],
    )
    await owner.query(
      `insert into source_claim (id, domain, wallet, kind, token, token_expires_at, state, method, proven_at, wallet_proven_at,
         created_at, next_check_at) values ($4, $1, $2, 'claim', repeat('a', 43), $3, 'proven', 'dns', $3, $3, $3, 'infinity')`,
      values,
    )
    await owner.query(`update source set proven_claim = $2 where domain = $1`, [values[0], values[3]])
  }
}
