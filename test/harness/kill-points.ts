import type { Interceptors } from '../../packages/node/src/compose/ground.ts'
import type { Database, Tx } from '../../packages/till/src/store/database.ts'

/** Counts calls of the ports and ends the process at one of them, without any chance to tidy up. */
export type KillPoints = {
  intercept: Interceptors
  /** Calls count from here on. */
  arm(): void
  seen(): readonly string[]
}

export type KillPlan = { at: number; when: 'before' | 'after' }

export function createKillPoints(plan: KillPlan | undefined): KillPoints {
  const calls: string[] = []
  let armed = false

  async function pass<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!armed) return work()
    calls.push(name)
    const mine = calls.length
    if (plan?.at === mine && plan.when === 'before') process.kill(process.pid, 'SIGKILL')
    const result = await work()
    if (plan?.at === mine && plan.when === 'after') process.kill(process.pid, 'SIGKILL')
    return result
  }

  const statementName = (statement: string | { name?: string; text: string }) =>
    typeof statement === 'string'
      ? statement.trim().slice(0, 40)
      : (statement.name ?? statement.text.trim().slice(0, 40))

  const database = (real: Database): Database => ({
    ...real,
    query: (statement, values) => pass(`db ${statementName(statement)}`, () => real.query(statement, values)),
    transaction: (work) =>
      pass('db commit', () =>
        real.transaction((tx) => {
          const counted: Tx = {
            transaction: true,
            query: (statement, values) => pass(`tx ${statementName(statement)}`, () => tx.query(statement, values)),
          }
          return work(counted)
        }),
      ),
  })

  return {
    arm: () => {
      armed = true
    },
    seen: () => calls,
    intercept: {
      database,
      rpc: (real) => ({
        name: real.name,
        send: (batch) => pass(`rpc ${batch.map((call) => call.method).join('+')}`, () => real.send(batch)),
      }),
      facilitator: (real) => ({
        ...real,
        settle: (payment, signal) => pass('facilitator settle', () => real.settle(payment, signal)),
      }),
    },
  }
}
