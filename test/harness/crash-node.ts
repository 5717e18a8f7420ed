import { readConfig } from '../../packages/node/src/config/load-config.ts'
import { type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { createJobsByHand } from './jobs-by-hand.ts'
import { createKillPoints, type KillPlan, type KillPoints } from './kill-points.ts'
import { listOf, type NodeVariant, openVariant } from './node-variants.ts'

export type CrashNodeOptions = {
  variant: NodeVariant
  plan?: KillPlan | undefined
  /** Names of the jobs of a round; without any it does none. */
  jobs?: readonly string[] | undefined
}

/** A node whose port calls are counted, and which may die at one of them. Its jobs run only on request, one by one. */
export async function startCrashNode(
  env: Record<string, string | undefined>,
  { variant, plan, jobs }: CrashNodeOptions,
): Promise<{ node: RunningNode; points: KillPoints; round(): Promise<void> }> {
  const points = createKillPoints(plan)
  const byHand = createJobsByHand()
  const node = await startNode(readConfig(env, await listOf(variant)), {
    ...(await openVariant(variant)),
    log: silentLog,
    intercept: { ...points.intercept, job: byHand.intercept },
    jobs: jobs !== undefined,
    trustExamples: true,
  })
  return { node, points, round: () => byHand.run(jobs ?? []) }
}
