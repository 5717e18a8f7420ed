import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import type { Database, HeldLock, Statement, Tx } from '../../packages/till/src/store/database.ts'
import { CommitUnknown } from '../../packages/till/src/store/errors.ts'
import type { FaultPlan } from './fault-plan.ts'
import type { Life, VirtualTime } from './virtual-time.ts'

class ProcessDied extends Error {}

/** Nobody is left to report to. One promise for all would keep everything that waits for it, and so every dead process. */
const never = () => new Promise<never>(() => {})

export type CrashablePorts = {
  intercept: Pick<Interceptors, 'database'>
  /** Counts a port call; the process may end at it. */
  pass<T>(work: () => Promise<T>): Promise<T>
  /** After death: what the server does when a connection breaks. */
  bury(): Promise<void>
}

/**
 * What a process has of the outside world, until it dies. A statement that was sent before the death may still take
 * effect, its answer reaches nobody; an open transaction ends undone. Its statements go through sessions that the next
 * process takes over, all but its locks and what it listens to: a session has nothing else that outlives a transaction,
 * and a new one has to read the catalog and plan every statement again.
 */
export function createCrashablePorts(
  life: Life,
  time: VirtualTime,
  plan: FaultPlan,
  sessions: Database,
  noticed: (statement: string | Statement) => void,
): CrashablePorts {
  const locks: HeldLock[] = []
  const open = new Set<Promise<unknown>>()
  let pool: Database | undefined

  const step = (when: 'before' | 'after') => {
    if (plan.diesNow(when)) life.end()
  }
  async function pass<T>(work: () => Promise<T>): Promise<T> {
    if (life.alive) step('before')
    if (!life.alive) return never()
    const running = time.busy(work)
    const settled = running.catch(() => {})
    open.add(settled)
    try {
      const result = await running
      if (life.alive) step('after')
      return life.alive ? result : never()
    } catch (error) {
      if (!life.alive) return never()
      throw error
    } finally {
      open.delete(settled)
    }
  }

  const database = (own: Database): Database => {
    pool = own
    const inTransaction = (tx: Tx): Tx => ({
      transaction: true,
      query: async <Row>(statement: string | Statement, values?: readonly unknown[]) => {
        if (life.alive) step('before')
        if (!life.alive) throw new ProcessDied()
        noticed(statement)
        const result = await tx.query<Row>(atVirtualTime(statement, values, time))
        if (life.alive) step('after')
        if (!life.alive) throw new ProcessDied()
        return result
      },
    })
    const lostAnswer = <T>(result: T): T => {
      if (plan.losesAnswer()) throw new CommitUnknown(new Error('the connection broke'))
      return result
    }
    return {
      query: (statement, values) =>
        pass(async () => {
          noticed(statement)
          return lostAnswer(await sessions.query(atVirtualTime(statement, values, time)))
        }),
      transaction: (work) => pass(async () => lostAnswer(await sessions.transaction((tx) => work(inTransaction(tx))))),
      listen: (channel, onMessage, onResync) =>
        own.listen(
          channel,
          (payload) => life.alive && onMessage(payload),
          () => life.alive && onResync?.(),
        ),
      holdLock: async (key) => {
        const lock = await time.busy(() => own.holdLock(key))
        locks.push(lock)
        return lock
      },
      close: () => {
        if (!life.alive) return never()
        pool = undefined
        return own.close()
      },
    }
  }

  return {
    intercept: { database },
    pass,
    bury: async () => {
      life.end()
      await Promise.all(open)
      for (const lock of locks.splice(0)) await lock.release()
      const left = pool
      pool = undefined
      // A start that failed has closed it already.
      await left?.close().catch(() => {})
    },
  }
}

const serverClock = /\b(?:lease_now|clock_timestamp|now)\(\)/g

/**
 * Leases are kept by the server's clock; in here there is only one clock. Its time is one more value, so that the text
 * stays the same and a prepared statement is planned once.
 */
function atVirtualTime(
  statement: string | Statement,
  values: readonly unknown[] = [],
  time: VirtualTime,
): string | Statement {
  const { text, name, values: own = values } = typeof statement === 'string' ? { text: statement } : statement
  if (text.search(serverClock) < 0) return { ...(name === undefined ? {} : { name }), text, values: own }
  return {
    ...(name === undefined ? {} : { name: `${name}_at` }),
    text: text.replaceAll(serverClock, `$${own.length + 1}::timestamptz`),
    values: [...own, new Date(time.nowMs())],
  }
}
