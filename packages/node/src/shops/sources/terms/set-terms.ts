import { type Address, checksumAddress } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import { renumberPages } from '../crawl/store.ts'
import type { SourceDeps } from '../deps.ts'
import { sourceProblems } from '../problems.ts'
import { requestCrawl } from '../register/ask-for-work.ts'
import { findSource, liveClaims, lockSource } from '../register/records.ts'
import { type CreatorRule, licencesOf } from './creator-rules.ts'
import { rslUrl, writeRsl } from './publish-rsl.ts'

export type TermsChange = { domain: string; rules: readonly CreatorRule[]; signedBy: Address }

/** Takes effect at once: everyone who holds an index is notified of all pages of the site. */
export async function setTerms(deps: SourceDeps, { domain, rules, signedBy }: TermsChange): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const source = await lockSource(tx, domain)
    const holder = (await liveClaims(tx, domain)).find((claim) => claim.state === 'proven')
    if (!holder || source?.state !== 'proven')
      throw new Problem(sourceProblems.source_unproven, {
        detail: `Terms are set by the proven creator, and ${domain} is not proven or is disputed.`,
      })
    if (holder.wallet !== signedBy)
      throw new Problem('forbidden', { detail: 'The request is signed by a wallet that is not the one paid now.' })
    const stored = JSON.stringify(rules)
    const { rowCount } = await tx.query(
      'update source set creator_terms = $2 where domain = $1 and creator_terms is distinct from $2::jsonb',
      [domain, stored],
    )
    if (rowCount === 0) return
    await tx.query(
      `insert into source_terms (domain, seq, rules, set_by, set_at)
       select $1, coalesce(max(seq), 0) + 1, $2, $3, $4 from source_terms where domain = $1`,
      [domain, stored, signedBy, new Date(deps.clock.nowMs())],
    )
    await renumberPages(tx, domain)
    // What was forbidden until now has to be read first.
    await requestCrawl(tx, domain, deps.clock, deps.settings.recrawlPauseMs)
  })
  deps.termsChanges.count += 1
}

const historyShown = 20

/** The terms in force, how they came about, and where they are published. */
export async function describeTerms(deps: SourceDeps, domain: string) {
  const { rows } = await deps.database.query<{ seq: number; rules: CreatorRule[]; set_by: Address; set_at: Date }>(
    'select seq, rules, set_by, set_at from source_terms where domain = $1 order by seq desc limit $2',
    [domain, historyShown],
  )
  const url = rslUrl(deps, domain)
  return {
    domain,
    rules: rows[0]?.rules ?? [],
    rsl_url: url,
    robots_line: `License: ${url}`,
    history: rows.map(({ seq, rules, set_by, set_at }) => ({
      seq,
      set_at: set_at.toISOString(),
      set_by: checksumAddress(set_by),
      rules,
    })),
  }
}

/** Undefined where nothing was set: an empty document would say that everything is free. */
export async function publishTerms(deps: SourceDeps, domain: string): Promise<string | undefined> {
  const source = await findSource(deps.database, domain)
  const rules = source?.creator_terms ?? []
  return source && rules.length > 0 ? writeRsl(licencesOf(rules, source.origin)) : undefined
}
