import type { SourceDeps } from '../deps.ts'
import { canonicalDomain } from '../domain/canonical-domain.ts'
import type { SourceRow } from '../register/records.ts'
import { insertSource } from '../register/register-source.ts'

/** More names of one site are not followed: a wildcard could lead on for ever. */
const namesMax = 5

/**
 * The home page leads to another name of the same site (`example.com` to `en.example.com`): that name is read too, under
 * its own robots.txt. Who is paid for it follows from proofs, as for any host below a domain.
 */
export async function followSite(deps: SourceDeps, source: SourceRow, host: string): Promise<void> {
  const name = canonicalDomain(host, deps.domains)
  if (!name.ok || name.registrable !== source.registrable) return
  await deps.database.transaction(async (tx) => {
    const { rows } = await tx.query<{ names: bigint }>('select count(*) as names from source where registrable = $1', [
      source.registrable,
    ])
    if (Number(rows[0]?.names ?? 0) < namesMax) await insertSource(deps, tx, name, { synthetic: source.synthetic })
  })
}
