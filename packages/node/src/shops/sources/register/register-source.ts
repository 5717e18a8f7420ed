import type { Address } from '@assay/protocol/address'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import type { Sql, Tx } from '@assay/till/store/database'
import { originOf, type SourceDeps } from '../deps.ts'
import { type CanonicalDomain, canonicalDomain } from '../domain/canonical-domain.ts'
import { sourceProblems } from '../problems.ts'
import { findSource, lockSource } from './records.ts'

export type Registration = {
  domain: string
  wallet: Address
  contact?: string | undefined
  sitemap?: string | undefined
  synthetic?: boolean
}

/** The canonical domain of user input, or the problem to answer with. */
export function requireDomain(deps: SourceDeps, text: string): CanonicalDomain {
  const outcome = canonicalDomain(text, deps.domains)
  if (!outcome.ok)
    throw new Problem(sourceProblems.domain_refused, { detail: outcome.detail, extra: { reason: outcome.problem } })
  return outcome
}

/** Makes the domain known. Idempotent, and keeps nothing of the claimant: its values follow from domain, wallet and day. */
export async function registerSource(deps: SourceDeps, registration: Registration): Promise<{ domain: string }> {
  const name = requireDomain(deps, registration.domain)
  const sitemap = checkSitemap(name.domain, registration.sitemap)
  await deps.database.transaction(async (tx) => {
    await insertSource(deps, tx, name, { ...registration, sitemap })
    const source = await lockSource(tx, name.domain)
    if (source?.state === 'refused') throw new Problem(sourceProblems.source_refused, { detail: source.state_reason })
    await keepContact(tx, name.domain, registration)
  })
  deps.metrics.count('source_registrations')
  return { domain: name.domain }
}

function checkSitemap(domain: string, sitemap: string | undefined): string | undefined {
  if (sitemap === undefined) return undefined
  const url = URL.canParse(sitemap) ? new URL(sitemap) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname !== domain || url.username !== '' || url.password !== '')
    throw fieldProblem('sitemap', 'must be an http(s) URL on the domain itself')
  return url.href
}

/** A row for the domain and its place in the queue of the crawler, where there is none yet. */
export async function insertSource(
  deps: Pick<SourceDeps, 'clock' | 'domains'>,
  tx: Tx,
  name: CanonicalDomain,
  registration: Pick<Registration, 'sitemap' | 'synthetic'>,
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
    // Only a hint where to look first, and it must be on the domain: an unproven claimant may give it, a later one too.
    await tx.query(`update source set sitemap = $2, updated_at = $3 where domain = $1 and proven_claim is null`, [
      name.domain,
      registration.sitemap,
      now,
    ])
}

/** Before a proof there is nothing to keep it with. The first contact stays: anybody can register with this wallet. */
export async function keepContact(
  sql: Sql,
  domain: string,
  { wallet, contact }: Pick<Registration, 'wallet' | 'contact'>,
): Promise<void> {
  if (contact === undefined) return
  await sql.query(
    `update source_claim set contact = $3
     where domain = $1 and wallet = $2 and state in ('waiting', 'proven') and contact is null`,
    [domain, wallet, contact],
  )
}

export async function requireSource(deps: SourceDeps, text: string) {
  const { domain } = requireDomain(deps, text)
  const source = await findSource(deps.database, domain)
  if (!source) throw new Problem(sourceProblems.source_unknown, { detail: `${domain} is not registered here.` })
  return source
}
