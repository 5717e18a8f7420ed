import type { Database } from '../../packages/till/src/store/database.ts'

const pollEveryMs = 40

/** Polls what the sessions of the nodes are doing in the database, until they are stopped. */
export function watchSessions(owner: Database): () => Promise<{ running: number; waits: [string, number][] }> {
  const seen = new Map<string, number>()
  let looks = 0
  let stopped = false
  const loop = (async () => {
    while (!stopped) {
      const { rows } = await owner.query<{ what: string; sessions: number }>(
        `select coalesce(wait_event_type || ':' || wait_event, 'working') as what, count(*)::int as sessions
         from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() group by 1`,
      )
      looks += 1
      for (const { what, sessions } of rows) seen.set(what, (seen.get(what) ?? 0) + sessions)
      await new Promise((resolve) => setTimeout(resolve, pollEveryMs))
    }
  })()
  return async () => {
    stopped = true
    await loop
    const mean = [...seen].map(([what, sum]): [string, number] => [what, sum / looks])
    const waits = mean.filter(([what]) => what !== 'working').sort(([, a], [, b]) => b - a)
    return { running: new Map(mean).get('working') ?? 0, waits }
  }
}
