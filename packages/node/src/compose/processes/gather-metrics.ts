import type { Clock } from '@assay/till/kernel/clock'
import type { Families } from '../../http/index.ts'

/** A worker that is blocked is left out, so that a scrape still gets the others. */
const answerMsMax = 1_000

export type MetricsSource = { ask(id: number): void }

/** Asks every worker for its metrics and gives what came in time. */
export function createTurnBatcher(clock: Clock) {
  const waiting = new Map<number, { left: number; families: Families[]; done(): void }>()
  let last = 0
  return {
    answered(id: number, families: Families): void {
      const round = waiting.get(id)
      round?.families.push(families)
      if (round && round.families.length >= round.left) round.done()
    },
    async gather(sources: readonly MetricsSource[]): Promise<Families[]> {
      last += 1
      const id = last
      const answered = new AbortController()
      const round = { left: sources.length, families: [] as Families[], done: () => answered.abort() }
      waiting.set(id, round)
      for (const source of sources) source.ask(id)
      await clock.sleep(answerMsMax, answered.signal).catch(() => {})
      waiting.delete(id)
      return round.families
    },
  }
}
