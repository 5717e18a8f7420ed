import type { Address } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import type { Sql, Tx } from '@assay/till/store/database'
import { identityProblems } from '../problems.ts'
import { type Declaration, noDeclaration } from './declaration.ts'
import { type AgentAddress, subjectsOf } from './subject.ts'

export type Agent = {
  subject: string
  version: number
  declaration: Declaration
  declaredAt: Date | null
  createdAt: Date
  updatedAt: Date
  deactivatedAt: Date | null
}

export type AgentRow = {
  subject: string
  version: number
  document: Declaration | null
  declared_at: Time | null
  created_at: Time
  updated_at: Time
  deactivated_at: Time | null
}

/** Text when it came through JSON. */
type Time = Date | string

/** Sent to every process when something about a wallet changed, with the wallet as payload. */
export const agentChangedChannel = 'agent_changed'

const timeOrNone = (time: Time | null) => (time === null ? null : new Date(time))

export const toAgent = (row: AgentRow): Agent => ({
  subject: row.subject,
  version: row.version,
  declaration: row.document ?? noDeclaration,
  declaredAt: timeOrNone(row.declared_at),
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
  deactivatedAt: timeOrNone(row.deactivated_at),
})

/** What it declared last; the row of one chain goes before the row of the wallet. */
export const agentSql = (subjects: string) =>
  `select a.*, v.document, v.declared_at from agent a left join agent_version v on v.subject = a.subject and v.version = a.version
   where a.subject = any(${subjects}) order by length(a.subject) desc limit 1`

export async function findAgent(sql: Sql, named: AgentAddress): Promise<Agent | undefined> {
  const { rows } = await sql.query<AgentRow>({
    name: 'identity-agent',
    text: agentSql('$1'),
    values: [subjectsOf(named)],
  })
  return rows[0] && toAgent(rows[0])
}

/** The declaration as it was: by number, or the newest up to a time. */
export async function findVersion(
  sql: Sql,
  subject: string,
  asked: { version: number } | { atMs: number },
): Promise<
  { version: number; declaration: Declaration; declaredAt: Date; next?: { version: number; at: Date } } | undefined
> {
  const { rows } = await sql.query<{ version: number; document: Declaration; declared_at: Date }>(
    'version' in asked
      ? `select version, document, declared_at from agent_version where subject = $1 and version in ($2, $2 + 1) order by version`
      : `(select version, document, declared_at from agent_version where subject = $1 and declared_at <= $2 order by version desc limit 1)
         union all (select version, document, declared_at from agent_version where subject = $1 and declared_at > $2 order by version limit 1)`,
    [subject, 'version' in asked ? asked.version : new Date(asked.atMs)],
  )
  const fits = (row: (typeof rows)[number]) =>
    'version' in asked ? row.version === asked.version : row.declared_at.getTime() <= asked.atMs
  const found = rows.find(fits)
  const next = rows.find((row) => !fits(row))
  if (found === undefined) return undefined
  return {
    version: found.version,
    declaration: found.document,
    declaredAt: found.declared_at,
    ...(next === undefined ? {} : { next: { version: next.version, at: next.declared_at } }),
  }
}

/** Who brings something about an agent, and how many agents that are new here it may bring in a day. */
export type Submitter = { name: string; newPerDay: number }

export type NewVersion = {
  subject: string
  wallet: Address
  submittedBy: Submitter
  signer: string
  declaration: Declaration
  expectedVersion?: number | undefined
  nowMs: number
}

/** Appends a version. Two at once run one after the other; the second fails if it named the version that it changes. */
export async function appendVersion(tx: Tx, added: NewVersion): Promise<number> {
  const now = new Date(added.nowMs)
  await insertAgent(tx, added)
  const { rows } = await tx.query<{ version: number; deactivated_at: Date | null }>(
    'select version, deactivated_at from agent where subject = $1 for update',
    [added.subject],
  )
  const before = rows[0]
  if (before === undefined || before.deactivated_at !== null) throw new Problem(identityProblems.agent_deactivated)
  if (added.expectedVersion !== undefined && added.expectedVersion !== before.version)
    throw new Problem(identityProblems.agent_version_conflict, { extra: { version: before.version } })
  const version = before.version + 1
  await checkPace(tx, added.subject, version, added.nowMs)
  await tx.query(
    `insert into agent_version (subject, version, document, signer, declared_at) values ($1, $2, $3, $4, $5)`,
    [added.subject, version, JSON.stringify(added.declaration), added.signer, now],
  )
  await tx.query('update agent set version = $2, updated_at = $3 where subject = $1', [added.subject, version, now])
  await tx.query('delete from agent_capability where subject = $1', [added.subject])
  await tx.query(`insert into agent_capability (subject, capability) select $1, unnest($2::text[])`, [
    added.subject,
    added.declaration.capabilities.map((one) => one.id),
  ])
  await agentChanged(tx, added.wallet)
  return version
}

/** Wallets are free, so that what one sender brings is limited; one that has paid here brings itself. */
async function insertAgent(
  tx: Tx,
  {
    subject,
    wallet,
    submittedBy: { name, newPerDay },
    nowMs,
  }: Pick<NewVersion, 'subject' | 'wallet' | 'submittedBy' | 'nowMs'>,
): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into agent (subject, wallet, version, submitted_by, created_at, updated_at)
     values ($1, $2, 0, $3, $4, $4) on conflict do nothing`,
    [subject, wallet, name, new Date(nowMs)],
  )
  if (rowCount === 0) return
  // Those that come at once would not see each other.
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`agent ${name}`])
  const { rows } = await tx.query<{ brought: bigint; paid: boolean }>(
    `select (select count(*) from agent where submitted_by = $1 and created_at > $2) as brought,
       exists (select from agent_rating where wallet = $3 and settled > 0) as paid`,
    [name, new Date(nowMs - dayMs), wallet],
  )
  if (rows[0]?.paid === false && rows[0].brought > BigInt(newPerDay))
    throw new Problem('rate_limited', {
      detail: `At most ${newPerDay} new agents come from one place in a day. A wallet that has paid here is not counted.`,
      retryAfterSeconds: 3_600,
    })
}

export const versionsPerDayMax = 100
const dayMs = 86_400_000

async function checkPace(tx: Tx, subject: string, version: number, nowMs: number): Promise<void> {
  const { rows } = await tx.query<{ declared_at: Date }>(
    'select declared_at from agent_version where subject = $1 and version = $2',
    [subject, version - versionsPerDayMax],
  )
  const freeAtMs = rows[0] ? rows[0].declared_at.getTime() + dayMs : 0
  if (freeAtMs > nowMs)
    throw new Problem('rate_limited', {
      detail: `An agent declares at most ${versionsPerDayMax} versions a day.`,
      retryAfterSeconds: Math.ceil((freeAtMs - nowMs) / 1000),
    })
}

/** For good: a DID that was given up must not come back under somebody who found its key. */
export async function deactivate(
  tx: Tx,
  ended: Pick<NewVersion, 'subject' | 'wallet' | 'submittedBy' | 'nowMs'>,
): Promise<void> {
  await insertAgent(tx, ended)
  await tx.query(
    'update agent set deactivated_at = $2, updated_at = $2 where subject = $1 and deactivated_at is null',
    [ended.subject, new Date(ended.nowMs)],
  )
  await tx.query('delete from agent_capability where subject = $1', [ended.subject])
  await agentChanged(tx, ended.wallet)
}

/** The registry was asked when the wallet declared its registration. */
export const registeredSql = (wallet: string) =>
  `exists (select from agent a join agent_version v on v.subject = a.subject and v.version = a.version
     where a.wallet = ${wallet} and a.deactivated_at is null and v.document ? 'erc8004')`

/** Called after a change to what the DID document of this wallet shows: every process drops its cached copy. */
export async function agentChanged(sql: Sql, wallet: Address): Promise<void> {
  await sql.query('select pg_notify($1, $2)', [agentChangedChannel, wallet])
}

export async function readHistory(
  sql: Sql,
  subject: string,
  page: { beforeVersion?: number | undefined; limit: number },
): Promise<{ version: number; document: Declaration; signer: string; declared_at: Date }[]> {
  const { rows } = await sql.query<{ version: number; document: Declaration; signer: string; declared_at: Date }>(
    `select version, document, signer, declared_at from agent_version
     where subject = $1 and ($2::integer is null or version < $2) order by version desc limit $3`,
    [subject, page.beforeVersion ?? null, page.limit],
  )
  return rows
}

/** Scores for lists, as they were last computed. */
export async function saveScores(sql: Sql, scores: ReadonlyMap<Address, number | null>): Promise<void> {
  await sql.query(
    `update agent a set score = s.score from unnest($1::text[], $2::smallint[]) as s(wallet, score)
     where a.wallet = s.wallet and a.score is distinct from s.score`,
    [[...scores.keys()], [...scores.values()]],
  )
}

export async function walletsWithAgents(sql: Sql, wallets: readonly Address[]): Promise<Address[]> {
  const { rows } = await sql.query<{ wallet: Address }>('select distinct wallet from agent where wallet = any($1)', [
    wallets,
  ])
  return rows.map((row) => row.wallet)
}
