import type { IdentityDeps } from '../deps.ts'

export const keptAfterReplacedMs = 90 * 86_400_000
const dayMs = 86_400_000
const batchMax = 1_000

/** Removes who brought an agent, once that limits nobody any more, and versions of which another one has taken the place for long. The newest of an agent stays. */
export async function expireVersions({ database, clock }: Pick<IdentityDeps, 'database' | 'clock'>): Promise<void> {
  await database.query('update agent set submitted_by = null where submitted_by is not null and created_at < $1', [
    new Date(clock.nowMs() - dayMs),
  ])
  await database.query(
    `delete from agent_version where (subject, version) in (
       select v.subject, v.version from agent_version v
       join agent_version n on n.subject = v.subject and n.version = v.version + 1
       where v.declared_at < $1 and n.declared_at < $1 order by v.declared_at limit ${batchMax})`,
    [new Date(clock.nowMs() - keptAfterReplacedMs)],
  )
}
