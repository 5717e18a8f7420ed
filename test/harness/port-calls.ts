import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import { ChainUnreadable } from '../../packages/till/src/chain/index.ts'
import type { Database, Statement, Tx } from '../../packages/till/src/store/database.ts'
import { StoreUnavailable } from '../../packages/till/src/store/errors.ts'

export type When = 'before' | 'after'
export type CallPlan = { at: number; when: When }

/** Runs before each call of a port; `failure` is what a caller sees when the other end is gone. */
export type Pass = <T>(name: string, work: () => Promise<T>, failure: () => Error) => Promise<T>

const gone = () => new StoreUnavailable('the connection to the database was lost')

const nameOf = (statement: string | Statement) =>
  typeof statement === 'string' ? statement.trim().slice(0, 40) : (statement.name ?? statement.text.trim().slice(0, 40))

/** Lets every call of database, chain and facilitator go through `pass`, except the statements that are `skipped`. */
export function interceptPorts(
  pass: Pass,
  skipped: (text: string) => boolean = () => false,
): Required<Pick<Interceptors, 'database' | 'rpc' | 'facilitator'>> {
  const database = (real: Database): Database => ({
    ...real,
    query: (statement, values) =>
      skipped(typeof statement === 'string' ? statement : statement.text)
        ? real.query(statement, values)
        : pass(`db ${nameOf(statement)}`, () => real.query(statement, values), gone),
    transaction: (work) => pass('db commit', () => real.transaction((tx) => work(within(tx))), gone),
  })
  const within = (tx: Tx): Tx => ({
    transaction: true,
    query: (statement, values) => pass(`tx ${nameOf(statement)}`, () => tx.query(statement, values), gone),
  })
  return {
    database,
    rpc: (real) => ({
      name: real.name,
      send: (batch) => {
        const name = `rpc ${batch.map((call) => call.method).join('+')}`
        return pass(
          name,
          () => real.send(batch),
          () => new ChainUnreadable('reset'),
        )
      },
    }),
    facilitator: (real) => ({
      ...real,
      settle: (payment, signal) =>
        pass(
          'facilitator settle',
          () => real.settle(payment, signal),
          () => new Error('socket hang up'),
        ),
    }),
  }
}

/** `strike` before the work or after it, as the plan has it. */
export async function around<T>(when: When | undefined, work: () => Promise<T>, strike: () => void): Promise<T> {
  if (when === 'before') strike()
  const result = await work()
  if (when === 'after') strike()
  return result
}
