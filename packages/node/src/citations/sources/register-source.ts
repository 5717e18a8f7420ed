import type { Address } from '../../kernel/address.ts'
import { Problem } from '../../kernel/problem.ts'
import type { Tx } from '../../store/database.ts'
import { originOf, type SourceDeps } from '../deps.ts'
import { type CanonicalDomain, canonicalDomain } from '../domain/canonical-domain.ts'
import { type ClaimRow, findSource, lockSource } from './records.ts'

export type Registration = {
  domain: string
  wallet: Address
  contact?: string | undefined
  sitemap?: string | undefined
  synthetic?: boolean
}

// Anybody may claim an unproven domain. Beyond this, claims whose token has run out make room first, then the oldest:
// so many that crowding out an honest claimant within the day of its token is not worth the trouble.
const openClaimsMax = 1_000

/** The canonical domain of user input, or the problem to answer with. */
export function requireDomain(deps: SourceDeps, text: string): CanonicalDomain {
  const outcome = canonicalDomain(text, deps.domains)
  if (!outcome.ok) throw new Problem('domain_refused', { detail: outcome.detail, extra: { reason: outcome.problem } })
  return outcome
}

/** Idempotent: the same domain and wallet get the same claim, with a fresh token once the old one has run out. */
export async function registerSource(
  deps: SourceDeps,
  registration: Registration,
): Promise<{ domain: string; claimId: string }> {
  const name = requireDomain(deps, registration.domain)
  const sitemap = checkSitemap(name.domain, registration.sitemap)
  const claimId = await deps.database.transaction(async (tx) => {
    await insertSource(deps, tx, name, { ...registration, sitemap })
    const source = await lockSource(tx, name.domain)
    if (source?.state === 'refused') throw new Problem('source_refused', { detail: source.state_reason })
    return ensureClaim(deps, tx, name.domain, registration)
  })
  deps.metrics.count('source_registrations')
  return { domain: name.domain, claimId }
}

function checkSitemap(domain: string, sitemap: string | undefined): string | undefined {
  if (sitemap === undefined) return undefined
  const url = URL.canParse(sitemap) ? new URL(sitemap) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname !== domain || url.username !== '' || url.password !== '')
    throw new Problem('input_invalid', {
      detail: 'sitemap must be an http(s) URL on the domain itself.',
      extra: { problems: [{ field: 'sitemap', problem: 'must be an http(s) URL on the domain itself' }] },
    })
  return url.href
}

async function insertSource(
  deps: SourceDeps,
  tx: Tx,
  name: CanonicalDomain,
  registration: Registration,
): Promise<void> {
  const now = new Date(deps.clock.nowMs())
  const { rowCount } = await tx.query(
    `insert into source (domain, registrable, display, homograph, origin, state, state_reason, sitemap, synthetic,
       score_wanted_at, registered_at, updated_at)
     values ($1, $2, $3, $4, $5, 'registered', '', $6, $7, $8, $8, $8) on conflict (domain) do nothing`,
    [
      name.domain,
      name.registrable,
      name.display,
      name.homograph ?? null,
      originOf(deps.domains, name.domain),
      registration.sitemap ?? null,
      registration.synthetic ?? false,
      now,
    ],
  )
  if (rowCount === 1)
    await tx.query('insert into crawl_host (domain, due_at) values ($1, $2) on conflict (domain) do nothing', [
      name.domain,
      now,
    ])
  else if (registration.sitemap !== undefined)
    // Only a hint where to look first, and it must lie on the domain: an unproven claimant may give it, a later one too.
    await tx.query(`update source set sitemap = $2, updated_at = $3 where domain = $1 and proven_claim is null`, [
      name.domain,
      registration.sitemap,
      now,
    ])
}

export async function ensureClaim(
  deps: SourceDeps,
  tx: Tx,
  domain: string,
  wanted: { wallet: Address; contact?: string | undefined; kind?: ClaimRow['kind']; consented?: boolean },
): Promise<string> {
  const { rows } = await tx.query<ClaimRow>(
    `select * from source_claim where domain = $1 and wallet = $2 and state in ('open', 'waiting', 'proven') for update`,
    [domain, wanted.wallet],
  )
  const [known] = rows
  const nowMs = deps.clock.nowMs()
  if (known) {
    await renew(deps, tx, known, wanted)
    return known.id
  }
  await dropOldest(deps, tx, domain)
  const id = deps.ids.next('clm')
  await tx.query(
    `insert into source_claim (id, domain, wallet, contact, kind, consented, token, token_expires_at, state, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9)`,
    [
      id,
      domain,
      wanted.wallet,
      wanted.contact ?? null,
      wanted.kind ?? 'claim',
      wanted.consented ?? false,
      newToken(deps),
      new Date(nowMs + deps.settings.tokenMs),
      new Date(nowMs),
    ],
  )
  return id
}

const newToken = (deps: SourceDeps) => Buffer.from(deps.rng.bytes(32)).toString('base64url')

async function renew(
  deps: SourceDeps,
  tx: Tx,
  known: ClaimRow,
  wanted: { contact?: string | undefined; consented?: boolean },
): Promise<void> {
  const nowMs = deps.clock.nowMs()
  if (wanted.contact !== undefined && known.state === 'open')
    await tx.query('update source_claim set contact = $2 where id = $1', [known.id, wanted.contact])
  if (wanted.consented === true && known.state === 'open')
    await tx.query(`update source_claim set consented = true, kind = 'wallet_change' where id = $1`, [known.id])
  if (known.state !== 'open' || known.token_expires_at.getTime() > nowMs) return
  await tx.query('update source_claim set token = $2, token_expires_at = $3, report = null where id = $1', [
    known.id,
    newToken(deps),
    new Date(nowMs + deps.settings.tokenMs),
  ])
}

async function dropOldest(deps: SourceDeps, tx: Tx, domain: string): Promise<void> {
  await tx.query(
    `delete from source_claim where id in (
       select id from source_claim where domain = $1 and state = 'open'
       order by token_expires_at > $3 desc, created_at desc, id desc offset $2)`,
    [domain, openClaimsMax - 1, new Date(deps.clock.nowMs())],
  )
}

export async function requireSource(deps: SourceDeps, text: string) {
  const { domain } = requireDomain(deps, text)
  const source = await findSource(deps.database, domain)
  if (!source) throw new Problem('source_unknown', { detail: `${domain} is not registered here.` })
  return source
}
