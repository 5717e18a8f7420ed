import { around, type CallPlan, interceptPorts, type When } from '../harness/port-calls.ts'

export type Life = ReturnType<typeof createLife>

/** A process that ends at a port call, before it or after its work was done; from then on everything it tries fails. */
export function createLife() {
  let alive = true
  let calls = 0
  let end: CallPlan | undefined
  let ending: { call: RegExp; when: When } | undefined
  let dying: Promise<unknown> | undefined
  const stillAlive = () => {
    if (!alive) throw new Error('this process is gone')
  }
  async function pass<T>(name: string, work: () => Promise<T>): Promise<T> {
    stillAlive()
    calls += 1
    const isLast = ending?.call.test(name) ?? false
    // Calls at the same time: the first of them is the last that this process makes.
    if (isLast && dying) await dying
    stillAlive()
    const when = end && calls >= end.at ? end.when : isLast ? ending?.when : undefined
    const passing = around(when, work, () => {
      alive = false
      stillAlive()
    })
    if (isLast) dying = passing.catch(() => {})
    const result = await passing
    stillAlive()
    return result
  }
  return {
    pass,
    end: () => {
      alive = false
    },
    /** Counted from now on. */
    dieAt: (call: number, when: When) => {
      calls = 0
      end = { at: call, when }
    },
    /** At the next call of this name. */
    dieOn: (call: RegExp, when: When) => {
      ending = { call, when }
    },
    crashableDatabase: interceptPorts((name, work) => pass(name, work)).database,
  }
}
