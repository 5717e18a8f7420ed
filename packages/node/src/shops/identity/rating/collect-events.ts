import type { Address } from '@assay/protocol/address'
import type { EvidenceSql } from '../ports.ts'
import type { RatingEvent } from './evidence.ts'

/** A row of a payment, a draw of credit or a reversal, in the one shape that events are made from. */
export type SeenRow = {
  id: string
  kind: 'payment' | 'draw' | 'reversal'
  state: string
  reason: string | null
  wallet: Address
  network: string
  at: string
  micro: string
  whole: boolean
  payee: Address | null
  route: string
  creators: (Address | null)[] | null
  washTraded: boolean | null
  referrers: (string | null)[]
}

/** Creators that earn from a call, and whether its citation was found to be wash-traded. */
const sharesSql = ({ creatorsSql, washTradedSql }: EvidenceSql, id: string) =>
  `${creatorsSql(id)} as creators, ${washTradedSql(id)} as "washTraded"`

/** `where` may name the columns ended_at, payer and id of `p`. */
export const paymentsSql = (evidence: EvidenceSql, where: string) =>
  `select p.id, 'payment' as kind, p.state, p.reason, p.payer as wallet, p.network, p.ended_at as at, p.amount_micro::text as micro,
     true as whole, p.pay_to as payee, p.route_id as route, ${sharesSql(evidence, 'p.id')},
     array[p.ref, p.aff] || ${evidence.referrersSql('p.id')} as referrers
   from payment p where p.ended_at is not null and ${where}`

export const drawsSql = (evidence: EvidenceSql, where: string) =>
  `select p.id, 'draw' as kind, p.state, null as reason, p.account as wallet, p.subject as network, p.ended_at as at,
     p.amount::text as micro, true as whole, null as payee, p.route_id as route, ${sharesSql(evidence, 'p.id')},
     ${evidence.referrersSql('p.id')} as referrers
   from entitled_call p where p.port = 'credit' and p.state = 'captured' and ${where}`

export const reversalsSql = (evidence: EvidenceSql, where: string) =>
  `select r.id::text, 'reversal' as kind, 'undone' as state, r.reason, r.wallet, r.network, r.reversed_at as at, r.micro::text as micro,
     r.whole, p.pay_to as payee, coalesce(p.route_id, '') as route, ${sharesSql(evidence, 'r.payment_id')},
     array[p.ref, p.aff] || ${evidence.referrersSql('r.payment_id')} as referrers
   from rating_reversal r left join payment p on p.id = r.payment_id where r.counted and ${where}`

/**
 * Money that stays the payer's own after such a call, so that paying it proves nothing: an order or an offer is withdrawn at
 * will, and a premium may go to the buyer under another name.
 */
const ownMoney = /^(?:credit|options)\./
/** Ends of a payment that are nobody's fault: its time ran out before it was submitted to the chain, or it was not needed. */
const blameless: ReadonlySet<string> = new Set(['authorization_expired', 'reorged', 'owner_gone', 'answered_before'])

/** The operator keeps a tenth of a citation's price; the rest may return to the payer under another name. */
const creatorsCostDivisor = 10n

/** All wallets that rows name; their relatedGroups decide what the rows are worth. */
export function walletsIn(rows: readonly SeenRow[]): Set<Address> {
  const named = new Set<Address>()
  for (const row of rows) for (const wallet of [row.wallet, ...related(row)]) named.add(wallet)
  return named
}

/** The operator earns where nobody else does. */
export function toEvents(
  operator: Address,
  clusters: ReadonlyMap<Address, string>,
  rows: readonly SeenRow[],
): RatingEvent[] {
  return rows.flatMap((row) => toEvent(operator, clusters, row) ?? []).sort((one, other) => one.atMs - other.atMs)
}

const related = (row: SeenRow): Address[] =>
  [...(row.creators ?? []), ...row.referrers, row.payee].flatMap((one) => (one === null ? [] : [one as Address]))

function toEvent(operator: Address, clusters: ReadonlyMap<Address, string>, row: SeenRow): RatingEvent | undefined {
  const { wallet, network } = row
  const atMs = new Date(row.at).getTime()
  if (row.kind === 'payment' && row.state === 'failed')
    return blameless.has(row.reason ?? '') ? undefined : { kind: 'failed', wallet, network, atMs }
  if ((row.kind === 'payment' && row.state !== 'served') || ownMoney.test(row.route)) return undefined
  // An answer that turned out to cost nothing: anyone can have as many of those as they like.
  if (row.micro === '0') return undefined
  const clusterOf = (one: Address) => clusters.get(one) ?? one
  const creators = row.creators ?? []
  const parties = creators.length > 0 ? creators.flatMap((one) => one ?? []) : [row.payee ?? operator]
  const own = clusterOf(wallet)
  const kickback = row.referrers.some((one) => one !== null && clusterOf(one as Address) === own)
  const attribution =
    row.washTraded === true || kickback || parties.some((one) => clusterOf(one) === own)
      ? 'self_dealt'
      : creators.includes(null)
        ? 'unattributed'
        : 'counts'
  const micro = BigInt(row.micro)
  const costMicro = creators.length > 0 ? micro / creatorsCostDivisor : micro
  const common = { wallet, network, atMs, micro, costMicro, parties, attribution } as const
  return row.kind === 'reversal'
    ? { kind: 'undone', ...common, reason: row.reason === 'reorg' ? 'reorg' : 'refund', whole: row.whole }
    : { kind: 'settled', ...common }
}
