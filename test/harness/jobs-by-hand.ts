import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'

/** The jobs of a node, run on request and in the order given: what a round does is the same in every life. */
export type JobsByHand = {
  intercept: NonNullable<Interceptors['job']>
  run(names: readonly string[]): Promise<void>
}

export function createJobsByHand(): JobsByHand {
  const rounds = new Map<string, () => Promise<void>>()
  return {
    intercept: (name, round) => {
      rounds.set(name, round)
      return async () => {}
    },
    run: async (names) => {
      for (const name of names) {
        const round = rounds.get(name)
        if (!round) throw new Error(`there is no job "${name}"`)
        // As the scheduler has it: a round that fails is followed by the next.
        await round().catch(() => {})
      }
    },
  }
}
