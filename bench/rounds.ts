import type { RequestPlan } from './load/requests.ts'
import type { LoadResult } from './load/run-load.ts'
import { median } from './percentiles.ts'
import type { Child } from './process/child.ts'

/** A server under test and what is asked of it. */
export type Side = { name: string; server: Child; port: number; plan: RequestPlan; status: number }

/** What one round of one side gave. */
export type Measured = { requests: number; perSecond: number; cpuMicrosPerRequest: number; sample: string }

export type LoadShape = { connections: number; secondsMax: number }

/** Loads one side once. Anything but the expected status ends the bench: a quick wrong answer is worth nothing. */
export async function measure(load: Child, side: Side, shape: LoadShape): Promise<Measured> {
  const cpuBefore = await side.server.ask<number>('cpu')
  const result = await load.ask<LoadResult>('run', { ...shape, port: side.port, plan: side.plan })
  const cpuMicros = (await side.server.ask<number>('cpu')) - cpuBefore
  const wrong = Object.entries(result.statuses).filter(([status]) => Number(status) !== side.status)
  if (wrong.length > 0 || result.requests === 0)
    throw new Error(`${side.name} answered ${JSON.stringify(result.statuses)}: ${result.sample.slice(0, 2_000)}`)
  return {
    requests: result.requests,
    perSecond: result.requests / result.seconds,
    cpuMicrosPerRequest: cpuMicros / result.requests,
    sample: result.sample,
  }
}

/** A B A B …: what slows the machine for a moment slows neighbours alike. Returns the rounds of each side, in order. */
export async function alternate<Result>(
  rounds: number,
  sides: readonly (() => Promise<Result>)[],
): Promise<Result[][]> {
  const results: Result[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round += 1)
    for (const [index, side] of sides.entries()) results[index]?.push(await side())
  return results
}

/** The middle ratio of neighbouring rounds, and between which ratios half of the rounds lie. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): { median: number; spread: number[] } {
  const ratios = ours.map((value, index) => value / (theirs[index] as number)).sort((a, b) => a - b)
  const at = (share: number) => ratios[Math.round(share * (ratios.length - 1))] as number
  return { median: median(ratios), spread: [at(0.25), at(0.75)] }
}
