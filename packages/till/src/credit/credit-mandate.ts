import type { Address } from '@assay/protocol/address'
import { formatUsd, type Micro } from '@assay/protocol/money'
import { mandateHeader } from '../contract/credit-terms.ts'
import type { PaidCall } from '../contract/paid-call.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { Problem } from '../kernel/problem.ts'
import type { Sql } from '../store/database.ts'

/** What an owner signed, as it never changes. What was drawn, and whether it was revoked, only the database knows. */
export type MandateTerms = {
  id: string
  owner: Address
  delegate: Address
  chainId: number
  ownerKind: 'key' | 'contract'
  /** Route ids or paths; `*` stands for a part of them. */
  routes: readonly string[]
  capCallMicro: Micro
  capDayMicro: Micro
  capTotalMicro: Micro
  validUntilMs: number
}

export const mandateIdPattern = /^mdt_[0-9a-f]{40}$/

export function namedMandate(headers: ReadonlyMap<string, string>): string | undefined {
  const id = headers.get(mandateHeader)
  if (id !== undefined && !mandateIdPattern.test(id))
    throw new Problem('bad_request', { detail: 'Assay-Mandate must be the id of a mandate, mdt_ and 40 hex digits.' })
  return id
}

type TermsRow = {
  id: string
  owner: Address
  delegate: Address
  chain_id: bigint
  owner_kind: 'key' | 'contract'
  routes: string[]
  cap_call_micro: bigint
  cap_day_micro: bigint
  cap_total_micro: bigint
  valid_until: Date
}

const keptMax = 4_096

/** Terms never change once they are stored, so recent ones are kept; the guarded update looks at everything else. */
export function createMandateReader(sql: Sql): (id: string) => Promise<MandateTerms | undefined> {
  const kept = new Map<string, MandateTerms>()
  return async (id) => {
    const known = kept.get(id)
    if (known) return known
    const { rows } = await sql.query<TermsRow>({
      name: 'mandate_terms',
      text: `select id, owner, delegate, chain_id, owner_kind, routes, cap_call_micro, cap_day_micro, cap_total_micro, valid_until
        from mandate where id = $1`,
      values: [id],
    })
    const row = rows[0]
    if (!row) return undefined
    const terms: MandateTerms = {
      id: row.id,
      owner: row.owner,
      delegate: row.delegate,
      chainId: Number(row.chain_id),
      ownerKind: row.owner_kind,
      routes: row.routes,
      capCallMicro: row.cap_call_micro,
      capDayMicro: row.cap_day_micro,
      capTotalMicro: row.cap_total_micro,
      validUntilMs: row.valid_until.getTime(),
    }
    kept.set(id, terms)
    if (kept.size > keptMax) kept.delete(kept.keys().next().value as string)
    return terms
  }
}

/** Nobody but the delegate learns anything about what was drawn under a mandate. */
export function requireDelegate(
  terms: MandateTerms,
  caller: { address: Address; kind: 'key' | 'contract'; chainId: number },
): void {
  const isDelegate =
    caller.address === terms.delegate && (caller.kind === 'key' || BigInt(caller.chainId) === BigInt(terms.chainId))
  if (!isDelegate)
    throw new Problem('delegate_mismatch', { detail: 'The request is not signed by the delegate of this mandate.' })
}

/** Everything that can be checked from the signed terms alone. Throws: whatever is not clearly allowed is refused. */
export function requireCovered(
  terms: MandateTerms,
  call: Pick<PaidCall, 'route' | 'priceMicro' | 'resourceUrl'>,
  nowMs: number,
): void {
  if (terms.validUntilMs <= nowMs) throw mandateProblem('mandate_expired', terms, call.priceMicro, null, nowMs)
  const path = new URL(call.resourceUrl).pathname
  if (!terms.routes.some((pattern) => matchesRoute(pattern, call.route.id, path)))
    throw new Problem('mandate_route', {
      detail: `The mandate does not name ${call.route.id} or ${path}.`,
      extra: { routes: terms.routes },
    })
  if (call.priceMicro > terms.capCallMicro) throw mandateProblem('mandate_call', terms, call.priceMicro, null, nowMs)
}

/** Why the guarded update refused. */
export function mandateProblem(
  outcome: string,
  terms: MandateTerms,
  priceMicro: Micro,
  leftMicro: Micro | null,
  nowMs: number,
): Problem {
  if (outcome === 'mandate_revoked' || outcome === 'mandate_unconfirmed') return new Problem(outcome)
  if (outcome === 'mandate_paused')
    return new Problem('not_available', {
      detail: 'Draws under mandates are paused.',
      retryAfterSeconds: 60,
      extra: { why: 'paused' },
    })
  if (outcome === 'mandate_expired')
    return new Problem('mandate_expired', { detail: `The mandate ended at ${toRfc3339(terms.validUntilMs)}.` })
  const caps = {
    mandate_call: { cap: 'per_call', capMicro: terms.capCallMicro, text: 'a call' },
    mandate_day: { cap: 'per_day', capMicro: terms.capDayMicro, text: 'a day' },
    mandate_total: { cap: 'total', capMicro: terms.capTotalMicro, text: 'in all' },
  } as const
  const over = Object.hasOwn(caps, outcome) ? caps[outcome as keyof typeof caps] : undefined
  if (over === undefined) return new Problem('mandate_unknown')
  return new Problem('mandate_over_cap', {
    detail: `The mandate allows ${formatUsd(over.capMicro)} USD ${over.text}, and this call costs ${formatUsd(priceMicro)}.`,
    extra: {
      cap: over.cap,
      cap_micro: over.capMicro.toString(),
      price_micro: priceMicro.toString(),
      ...(leftMicro === null ? {} : { left_micro: leftMicro.toString() }),
    },
    ...(over.cap === 'per_day' ? { retryAfterSeconds: secondsToMidnight(nowMs) } : {}),
  })
}

const dayMs = 86_400_000

const secondsToMidnight = (nowMs: number): number => Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)

/**
 * A pattern with a leading slash is compared with the path, segment by segment, where a last segment of two stars matches
 * for all that follow; any other is compared with the route's id. One star stands for any characters, or none.
 */
export function matchesRoute(pattern: string, routeId: string, path: string): boolean {
  if (!pattern.startsWith('/')) return matchesText(pattern, routeId)
  const wanted = pattern.split('/')
  const given = path.split('/')
  const open = wanted.at(-1) === '**'
  if (open) wanted.pop()
  if (open ? given.length <= wanted.length : given.length !== wanted.length) return false
  return wanted.every((part, index) => matchesText(part, given[index] as string))
}

/** Stars by the two-pointer way: no pattern of a stranger can make it slow. */
function matchesText(pattern: string, text: string): boolean {
  let at = 0
  let place = 0
  let star = -1
  let resume = 0
  while (at < text.length) {
    if (pattern[place] === '*') {
      star = place
      place += 1
      resume = at
    } else if (place < pattern.length && pattern[place] === text[at]) {
      place += 1
      at += 1
    } else if (star >= 0) {
      place = star + 1
      resume += 1
      at = resume
    } else return false
  }
  while (pattern[place] === '*') place += 1
  return place === pattern.length
}
