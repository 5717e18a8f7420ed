import { writeAudit } from '@assay/till/store/audit-log'
import type { Database, Tx } from '@assay/till/store/database'
import { pageBudget } from '../crawl/page-budget.ts'
import { addPages } from '../crawl/store.ts'
import { originOf, type SourceDeps } from '../deps.ts'
import { type CanonicalDomain, canonicalDomain } from '../domain/canonical-domain.ts'
import { lockSource } from '../register/records.ts'
import { insertSource } from '../register/register-source.ts'
import type { Seed } from './read-seed.ts'

export type CorpusDeps = Pick<SourceDeps, 'clock' | 'domains'> & { database: Database }

export type SeedBudget = {
  /** Pages of each domain; undefined: by setting and score. */
  pages?: number | undefined
  /** Domains that may be new to the corpus; further ones are skipped. */
  domains?: number | undefined
}

export type AddedSeeds = {
  domains: {
    domain: string
    state: 'new' | 'known' | 'skipped'
    pages: number
    listings: number
    problem: string | null
  }[]
}

const listingsMax = 50
/** What one domain has at most until its own number is set. */
const defaultPages = 50

/** Sites, sitemaps, feeds and pages for the crawler to read, as soon as it is free. Each domain is one transaction. */
export async function addSeeds(
  deps: CorpusDeps,
  seeds: readonly Seed[],
  budget: SeedBudget,
  actor: string,
): Promise<AddedSeeds> {
  const byDomain = new Map<string, Seed[]>()
  for (const seed of seeds) byDomain.set(seed.domain, [...(byDomain.get(seed.domain) ?? []), seed])
  const domains: AddedSeeds['domains'] = []
  let added = 0
  for (const [text, ofDomain] of byDomain) {
    const skipped = (problem: string) =>
      domains.push({ domain: text, state: 'skipped', pages: 0, listings: 0, problem })
    const name = canonicalDomain(text, deps.domains)
    if (!name.ok) {
      skipped(name.detail)
      continue
    }
    const full = budget.domains !== undefined && added >= budget.domains
    const outcome = await addDomain(deps, name, ofDomain, { pages: budget.pages, full }, actor)
    if (typeof outcome === 'string') skipped(outcome)
    else {
      if (outcome.state === 'new') added += 1
      domains.push({ domain: name.domain, ...outcome, problem: null })
    }
  }
  return { domains }
}

async function addDomain(
  deps: CorpusDeps,
  name: CanonicalDomain,
  seeds: readonly Seed[],
  budget: { pages: number | undefined; full: boolean },
  actor: string,
): Promise<{ state: 'new' | 'known'; pages: number; listings: number } | string> {
  return deps.database.transaction(async (tx) => {
    const before = await lockSource(tx, name.domain)
    if (before?.state === 'refused') return `The domain is refused: ${before.state_reason}`
    if (!before && budget.full) return 'The limit of new domains is reached.'
    await ensureSource(deps, tx, name, budget.pages)
    const origin = originOf(deps.domains, name.domain)
    const urlsOf = (kind: Seed['kind']) =>
      seeds.flatMap((seed) =>
        seed.kind === kind && 'url' in seed
          ? [new URL(new URL(seed.url).pathname + new URL(seed.url).search, origin).href]
          : [],
      )
    const [pages, listings] = [urlsOf('page'), urlsOf('listing')]
    const now = new Date(deps.clock.nowMs())
    const source = await lockSource(tx, name.domain)
    if (pages.length > 0 && source)
      await addPages(
        tx,
        name.domain,
        pages.map((url) => ({ url, foundBy: 'operator' as const })),
        now,
        Math.max(pageBudget(source, defaultPages), budget.pages ?? pages.length),
      )
    // A requested visit: the trigger wakes the crawler.
    await tx.query(
      `update crawl_host set due_at = least(due_at, $2), wanted_at = $2, failures = 0,
         listings = (select coalesce(jsonb_agg(distinct l), '[]') from (
           select l from jsonb_array_elements(listings || $3::jsonb) as l limit ${listingsMax}) as first_ones)
       where domain = $1`,
      [name.domain, now, JSON.stringify(listings)],
    )
    await writeAudit(tx, {
      actor,
      action: 'corpus.add',
      subject: name.domain,
      details: {
        pages: pages.length,
        listings: listings.length,
        ...(budget.pages === undefined ? {} : { pages_max: budget.pages }),
      },
    })
    return { state: before ? ('known' as const) : ('new' as const), pages: pages.length, listings: listings.length }
  })
}

/** The domain is known, with the number of pages that the operator wants of it. */
export async function ensureSource(
  deps: CorpusDeps,
  tx: Tx,
  name: CanonicalDomain,
  pages: number | undefined,
): Promise<void> {
  await insertSource(deps, tx, name, {})
  if (pages !== undefined)
    await tx.query('update source set pages_max = greatest(coalesce(pages_max, 0), $2) where domain = $1', [
      name.domain,
      pages,
    ])
}
