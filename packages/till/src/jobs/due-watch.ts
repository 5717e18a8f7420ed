import { sha256 } from '../kernel/bytes.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Database } from '../store/database.ts'

type DueJob = {
  name: string
  /** An SQL expression, the time being `$1`: there is work while it is true, and once after its value has changed. */
  due: string
}

export type DueWatch = {
  /** Reads the state of every job in one statement. Calls `onDue` for those that were idle and now have work. */
  poll(onDue: (name: string) => void): Promise<void>
  /** Whether a round may find something to do. What is not known counts as work. */
  isDue(name: string): boolean
  /** One round. A round that fails leaves its work to the next. */
  run(name: string, round: () => Promise<void>): Promise<void>
}

/** Jobs wait for rows that mostly are not there: one statement for all of them, instead of a few for each. */
export function createDueWatch(
  { database, clock, log }: { database: Database; clock: Clock; log: Log },
  jobs: readonly DueJob[],
): DueWatch {
  const columns = jobs.map(({ name, due }) => `(${due})::text as "${name}"`)
  const text = `select ${columns.join(', ')} from (select $1::timestamptz) as asked`
  const statement = { name: `jobs_due_${sha256(text).toString('hex').slice(0, 16)}`, text }
  let current: Readonly<Record<string, string | null>> | undefined
  const served = new Map<string, string | null | undefined>()
  const isDue = (name: string) =>
    current === undefined || current[name] === 'true' || !served.has(name) || served.get(name) !== current[name]
  return {
    poll: async (onDue) => {
      const idle = jobs.filter(({ name }) => !isDue(name))
      try {
        const { rows } = await database.query<Record<string, string | null>>({
          ...statement,
          values: [new Date(clock.nowMs())],
        })
        current = rows[0]
      } catch (error) {
        current = undefined
        log.warn({ error: String(error) }, 'what the jobs have to do could not be read; each of them runs to find out')
      }
      for (const { name } of idle) if (isDue(name)) onDue(name)
    },
    isDue,
    run: async (name, round) => {
      served.set(name, current?.[name])
      try {
        await round()
      } catch (error) {
        served.delete(name)
        throw error
      }
    },
  }
}
