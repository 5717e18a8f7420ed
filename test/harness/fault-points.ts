import type { Interceptors } from '../../packages/node/src/compose/ground.ts'
import { ChainUnreadable } from '../../packages/till/src/chain/index.ts'
import type { Database, Tx } from '../../packages/till/src/store/database.ts'
import { StoreUnavailable } from '../../packages/till/src/store/errors.ts'

/** Lets one port call of the life of a payment fail, before its work or after it. */
export type FaultPoints = {
  intercept: Interceptors
  /** From now on calls made on behalf of a payment count; the one planned fails. */
  plan(at: number, when: 'before' | 'after'): void
  stop(): readonly string[]
  /** From now on any call may fail, as `strike` decides for each; undefined ends it. */
  storm(strike: (() => 'before' | 'after' | undefined) | undefined): void
}

export function createFaultPoints(): FaultPoints {
  let calls: string[] | undefined
  let planned: { at: number; when: 'before' | 'after' } | undefined

  let strike: (() => 'before' | 'after' | undefined) | undefined

  async function struck<T>(work: () => Promise<T>, failure: () => Error): Promise<T> {
    const when = strike?.()
    if (when === 'before') throw failure()
    const result = await work()
    if (when === 'after') throw failure()
    return result
  }

  async function pass<T>(name: string, work: () => Promise<T>, failure: () => Error): Promise<T> {
    if (strike) return struck(work, failure)
    if (!calls) return work()
    calls.push(name)
    const mine = calls.length
    if (planned?.at === mine && planned.when === 'before') throw failure()
    const result = await work()
    if (planned?.at === mine && planned.when === 'after') throw failure()
    return result
  }

  const gone = () => new StoreUnavailable('the connection to the database was lost')
  const named = (statement: string | { name?: string; text: string }) =>
    typeof statement === 'string'
      ? statement.trim().slice(0, 40)
      : (statement.name ?? statement.text.trim().slice(0, 40))
  /** Jobs, leases and listeners go on by themselves and are not part of a payment. */
  const isBackground = (name: string) =>
    /job_lease|payment_owner|pause|keyring|settlement_lane|nonce_claim|ledger_seal/.test(name)

  const database = (real: Database): Database => ({
    ...real,
    query: (statement, values) => {
      const name = named(statement)
      return isBackground(typeof statement === 'string' ? statement : statement.text)
        ? real.query(statement, values)
        : pass(`db ${name}`, () => real.query(statement, values), gone)
    },
    transaction: (work) =>
      pass(
        'db commit',
        () =>
          real.transaction((tx) => {
            const counted: Tx = {
              transaction: true,
              query: (statement, values) => pass(`tx ${named(statement)}`, () => tx.query(statement, values), gone),
            }
            return work(counted)
          }),
        gone,
      ),
  })

  return {
    plan: (at, when) => {
      calls = []
      planned = { at, when }
    },
    stop: () => {
      const seen = calls ?? []
      calls = undefined
      planned = undefined
      return seen
    },
    storm: (given) => {
      strike = given
    },
    intercept: {
      database,
      rpc: (real) => ({
        name: real.name,
        send: (batch) =>
          pass(
            `rpc ${batch.map((call) => call.method).join('+')}`,
            () => real.send(batch),
            () => new ChainUnreadable('reset'),
          ),
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
    },
  }
}
