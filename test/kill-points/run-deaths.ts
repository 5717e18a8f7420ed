import { Broken } from '../harness/broken.ts'
import type { KillPlan } from '../harness/kill-points.ts'

export type Life = {
  /** Port calls, in the order in which they began; of a life without a plan. */
  calls: readonly string[]
  /** Round by round, where the calls are made in rounds. */
  rounds?: readonly number[]
  died: boolean
  /** From the death until everything was as it should be. */
  recoveryMs: number
}

/** What is known of one money path in the end. */
export type Row = {
  path: string
  calls: number
  deaths: number
  recovered: number
  lost: number
  doubled: number
  slowestMs: number
  seconds: number
  failures: string[]
  /** Where it is checked: deaths while something was being written, and what it was at each of them. */
  whileWriting?: number
  seen?: string[]
}

export type DeathsWanted = {
  path: string
  every: number
  /** Deaths also where nothing can have changed since the one before. */
  eachCall: boolean
  workers: number
  /** `worker` counts from 0: lives of one worker come one after another. */
  live(worker: number, plan?: KillPlan): Promise<Life>
  /** Once all is over: books and chain. */
  check(): Promise<void>
  say(text: string): void
}

export const noDeaths = (path: string): Row => ({
  path,
  calls: 0,
  deaths: 0,
  recovered: 0,
  lost: 0,
  doubled: 0,
  slowestMs: 0,
  seconds: 0,
  failures: [],
})

const progressMs = 15_000

/** One life to count the port calls, then one for each death before and after each of them. */
export async function runDeaths({ path, every, eachCall, workers, live, check, say }: DeathsWanted): Promise<Row> {
  const startedMs = Date.now()
  const seconds = () => Math.round((Date.now() - startedMs) / 1000)
  const row = noDeaths(path)
  const fail = (text: string, error: unknown) => {
    row[error instanceof Broken ? error.how : 'lost'] += 1
    row.failures.push(`${text}: ${String(error)}`)
    say(`BROKEN ${text}: ${String(error)}`)
  }
  const first = await live(0)
  const plans = plansFor(first, eachCall).filter((_, index) => index % every === 0)
  row.calls = first.calls.length
  const queue = [...plans]
  let tried = 0
  const progress = setInterval(
    () => say(`       ${path}: ${tried} of ${plans.length} deaths, ${seconds()} s`),
    progressMs,
  )
  const work = async (worker: number) => {
    for (let plan = queue.shift(); plan; plan = queue.shift()) {
      const name = `${path}, killed ${plan.when} call ${plan.at} (${first.calls[plan.at - 1]})`
      try {
        const life = await live(worker, plan)
        if (life.died) {
          row.deaths += 1
          row.recovered += 1
          row.slowestMs = Math.max(row.slowestMs, life.recoveryMs)
        }
      } catch (error) {
        row.deaths += 1
        fail(name, error)
      }
      tried += 1
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(workers, plans.length) }, (_, worker) => work(worker)))
    await check().catch((error: unknown) => fail(`${path}, books and chain`, error))
  } finally {
    clearInterval(progress)
  }
  row.seconds = seconds()
  const verdict = row.failures.length === 0 ? 'held  ' : 'BROKEN'
  say(
    `${verdict} ${path}: ${row.deaths} deaths at ${row.calls} port calls, ${row.lost} lost, ${row.doubled} doubled, ${row.seconds} s`,
  )
  return row
}

/**
 * Before and after each call. A round that makes the very calls of an earlier one only waits: it is died in once. Unless
 * killed at each call, a death is left out where nothing outside the process can have changed since the one before:
 * between two calls that only look, and between the statements of one transaction, which commit or roll back together.
 */
function plansFor({ calls, rounds = [calls.length] }: Life, eachCall: boolean): KillPlan[] {
  const plans: KillPlan[] = []
  let from = 0
  const known = new Set<string>()
  for (const to of rounds) {
    const made = calls.slice(from, to)
    const isNew = !known.has(made.join('\n'))
    known.add(made.join('\n'))
    if (isNew)
      for (const [index, call] of made.entries()) {
        const at = from + index + 1
        const [first, last] = [
          { at, when: 'before' },
          { at, when: 'after' },
        ] as const
        if (eachCall) plans.push(first, last)
        else if (call.startsWith('tx ')) {
          if (!made[index + 1]?.startsWith('tx ')) plans.push(last)
        } else if (!looking.test(call)) plans.push(first, last)
      }
    from = to
  }
  return plans
}

/** Statements of the node that only look, by the names they are prepared under. */
const looks = [
  'read_',
  'active_bonds',
  'cited_snapshot',
  'creator_pay',
  'credit_not_final',
  'funding_clusters',
  'ledger_(?:owed_to|balance_of|held_of|lock)',
  'log_(?:find|first|newest|tiles|waiting|witnessed)',
  'mandate_terms',
  'option-(?:agreed|earlier|held|interest|load|lock|vault)',
  'rewards_(?:find|has|pending|point|read|takes)',
  'subscription_of',
]
/** A lease is no money: a process that dies with one leaves it to the next. */
const looking = new RegExp(
  `^db (?:select\\b|(?:insert into|update) (?:job_lease|settlement_wallet)|${looks.join('|')})|^rpc (?!.*eth_sendRawTransaction)`,
)
