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
  const states = jobs.map(({ due }) => `(${due})::text`)
  // One column: dozens of them would cost more to take apart than to read.
  const text = `select to_json(array[${states.join(', ')}])::text as states from (select $1::timestamptz) as asked`
  const statement = { name: `jobs_due_${sha256(text).toString('hex').slice(0, 16)}`, text }
  let last: string | undefined
  let current: ReadonlyMap<string, string | null> | undefined
  const served = new Map<string, string | null | undefined>()
  const isDue = (name: string) => {
    const state = current?.get(name)
    return current === undefined || state === 'true' || !served.has(name) || served.get(name) !== state
  }
  return {
    poll: async (onDue) => {
      const read = await database.query<{ states: string }>({ ...statement, values: [new Date(clock.nowMs())] }).then(
        ({ rows }) => rows[0]?.states,
        (error: unknown) => {
          log.warn({ error: String(error) }, 'what the jobs have to do could not be read; each runs to find out')
          return undefined
        },
      )
      if (read !== undefined && read === last) return
      last = read
      // A round may have ended while this was read: its job sleeps by what was known then.
      const idle = jobs.filter(({ name }) => !isDue(name))
      current = read === undefined ? undefined : statesByName(jobs, read)
      for (const { name } of idle) if (isDue(name)) onDue(name)
    },
    isDue,
    run: async (name, round) => {
      served.set(name, current?.get(name))
      try {
        await round()
      } catch (error) {
        served.delete(name)
        throw error
      }
    },
  }
}

function statesByName(jobs: readonly DueJob[], text: string): Map<string, string | null> {
  const states = JSON.parse(text) as (string | null)[]
  return new Map(jobs.map(({ name }, place) => [name, states[place] ?? null]))
}
