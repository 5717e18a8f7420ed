import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import type { Database } from '../../packages/till/src/store/database.ts'

export type Session = {
  pid: number
  /** Of a node; false for the server's own processes and for the observer. */
  ours: boolean
  state: string | null
  /** Its transaction has written something. */
  wrote: boolean
  wait: string | null
  query: string
}

const checkSql = `
  select pid, backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid() as ours,
    state, backend_xid is not null as wrote, wait_event as wait, query
  from pg_stat_activity`

const changes = /\b(insert into|update|delete from)\s+(?:only\s+)?(\w+)/i
/** A lease is no money: the next process takes it. */
const noMoney = /\b(job_lease|settlement_wallet)\b/i
const commits = /^\s*commit\b/i
/** The commit waits until the log is on the disk; PostgreSQL has spelt it in two ways. */
const flushes = /^wal(sync|write)$/i

/** A statement that writes, or the commit of what was written, is being carried out at this moment. */
export const isWriting = ({ state, wrote, query }: Session): boolean =>
  state === 'active' && wrote && !noMoney.test(query)

export function describeSession({ query, wait }: Session): string {
  const [, verb = '', table = ''] = changes.exec(query) ?? []
  // What a function of the database writes does not stand in the statement.
  const statement = verb === '' ? (query.split('(')[0] ?? '').trim() : `${verb.toLowerCase()} ${table}`
  if (commits.test(query)) return wait === null ? 'commit' : `commit (${wait})`
  if (wait === null) return statement
  return flushes.test(wait) ? `commit of ${statement} (${wait})` : `${statement} (${wait})`
}

const huntMsMax = 3_000
/** A stopped process may hold what a check needs. */
const pollMsMax = 500

/**
 * Kills the whole server, all of its processes, while something is being written, and says what. The sessions are stopped
 * first and inspected while they are stopped, so what is said of each is what it was doing when it died. If none of them
 * writes, they go on until one does.
 */
export async function killWhileWriting(postmaster: number, owner: Database): Promise<string[]> {
  const look = async () => (await owner.query<Session>(checkSql)).rows
  let sessions = await look()
  for (const giveUpAt = Date.now() + huntMsMax; ; await systemClock.sleep(1)) {
    const stopped = new Set(sessions.filter(({ ours }) => ours).map(({ pid }) => pid))
    for (const pid of stopped) signal(pid, 'SIGSTOP')
    const tooLong = systemClock.sleep(pollMsMax).then(() => undefined)
    const atDeath = await Promise.race([look().catch(() => undefined), tooLong])
    const writing = atDeath?.filter((session) => stopped.has(session.pid) && isWriting(session)) ?? []
    if (writing.length > 0 || Date.now() > giveUpAt) {
      // The postmaster first: it would start again what it sees die. Without the rest, commits would still be finished.
      for (const pid of [postmaster, ...(atDeath ?? sessions).map((session) => session.pid)]) signal(pid, 'SIGKILL')
      return writing.map(describeSession)
    }
    for (const pid of stopped) signal(pid, 'SIGCONT')
    sessions = atDeath ?? sessions
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended by itself.
  }
}
