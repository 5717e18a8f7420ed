import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'

/** Who gets the creator's share of a page, or why it waits. */
export type Payee = {
  /** The source that answers for the page; the page's own domain when none is registered. */
  domain: string
  registrable: string
  wallet: Address | undefined
  claimId: string | undefined
  citeScore: number | null
  synthetic: boolean
  reason: 'proven' | 'not_registered' | 'not_proven' | 'wallet_not_signed' | 'disputed' | 'held'
}

type Row = {
  domain: string
  state: string
  synthetic: boolean
  cite_score: number | null
  claim_id: string | null
  wallet: Address | null
  method: string | null
  wallet_proven: boolean
}

/** The page's domain and the domains above it, down to the registrable one. */
export function domainsAbove(domain: string, registrable: string): string[] {
  const list = [domain]
  for (let at = domain; at !== registrable && at.includes('.'); ) {
    at = at.slice(at.indexOf('.') + 1)
    list.push(at)
  }
  return list
}

export type CitedHost = { domain: string; registrable: string }

export async function findPayee(sql: Sql, domain: string, registrable: string): Promise<Payee> {
  const [payee] = await findPayees(sql, [{ domain, registrable }])
  return payee as Payee
}

/** For each host, in the order given. */
export async function findPayees(sql: Sql, hosts: readonly CitedHost[]): Promise<Payee[]> {
  const candidates = new Set(hosts.flatMap(({ domain, registrable }) => domainsAbove(domain, registrable)))
  const { rows } = await sql.query<Row>({
    name: 'creator_payee',
    text: `select s.domain, s.state, s.synthetic, s.cite_score, c.id as claim_id, c.wallet, c.method,
        c.wallet_proven_at is not null as wallet_proven
      from source s left join source_claim c on c.id = s.proven_claim where s.domain = any($1)`,
    values: [[...candidates]],
  })
  const known = new Map(rows.map((row) => [row.domain, row]))
  return hosts.map((host) => nearestPayee(host, known))
}

/** The nearest proven source. A file or a tag proves its own host only; DNS answers for the hosts below it too. */
function nearestPayee({ domain, registrable }: CitedHost, known: ReadonlyMap<string, Row>): Payee {
  const found = domainsAbove(domain, registrable)
    .flatMap((name) => known.get(name) ?? [])
    .filter((row) => row.domain === domain || (row.claim_id !== null && row.method === 'dns'))
  const [nearest] = found
  const waits = (reason: Payee['reason'], row?: Row): Payee => ({
    domain: row?.domain ?? domain,
    registrable,
    wallet: undefined,
    claimId: undefined,
    citeScore: row?.cite_score ?? null,
    synthetic: row?.synthetic ?? false,
    reason,
  })
  if (!nearest) return waits('not_registered')
  const proven = found.find((row) => row.claim_id !== null) ?? nearest
  if (proven.claim_id === null || proven.wallet === null) return waits('not_proven', nearest)
  if (proven.state === 'disputed') return waits('disputed', proven)
  if (proven.state !== 'proven') return waits('held', proven)
  if (!proven.wallet_proven) return waits('wallet_not_signed', proven)
  return {
    domain: proven.domain,
    registrable,
    wallet: proven.wallet,
    claimId: proven.claim_id,
    citeScore: proven.cite_score,
    synthetic: proven.synthetic,
    reason: 'proven',
  }
}
