import type { Database, Tx } from '../../packages/till/src/store/database.ts'

export type Life = ReturnType<typeof createLife>

/** A process that ends at a port call, before it or after its work was done; from then on everything it tries fails. */
export function createLife() {
  let alive = true
  let calls = 0
  let end: { at: number; when: 'before' | 'after' } | undefined
  const dead = () => new Error('this process is gone')

  async function pass<T>(work: () => Promise<T>): Promise<T> {
    if (!alive) throw dead()
    calls += 1
    const mine = calls
    if (end && mine >= end.at && end.when === 'before') alive = false
    if (!alive) throw dead()
    const result = await work()
    if (end && mine >= end.at && end.when === 'after') alive = false
    if (!alive) throw dead()
    return result
  }

  return {
    pass,
    end: () => {
      alive = false
    },
    /** Counted from now on. */
    dieAt: (call: number, when: 'before' | 'after') => {
      calls = 0
      end = { at: call, when }
    },
    mortalDatabase: (real: Database): Database => ({
      ...real,
      query: (statement, values) => pass(() => real.query(statement, values)),
      transaction: (work) =>
        pass(() =>
          real.transaction((tx) => {
            const counted: Tx = {
              transaction: true,
              query: (statement, values) => pass(() => tx.query(statement, values)),
            }
            return work(counted)
          }),
        ),
    }),
  }
}
