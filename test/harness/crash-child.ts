import { fork } from 'node:child_process'
import { type CrashChild, controlChild, counted } from './control-child.ts'
import { startCrashNode } from './crash-node.ts'
import { joinCrashChild } from './join-crash-child.ts'
import { type KillPlan, planOf } from './kill-points.ts'
import type { NodeVariant } from './node-variants.ts'
import type { TillFixture } from './till-fixture.ts'

export type CrashChildOptions = {
  variant?: NodeVariant
  plan?: KillPlan | undefined
  /** Names of the jobs of a round; without any it does none. */
  jobs?: readonly string[]
  env?: Record<string, string>
}

/** What another process needs to work on the database and chains of a fixture. */
const environmentOf = (till: TillFixture) => ({
  PATH: process.env['PATH'],
  PORT: '0',
  // One public name for all processes of a node, as behind a load balancer.
  BASE_URL: till.node.url,
  ASSAY_HOME: till.node.config.home,
  DATABASE_URL: till.db.databaseUrl,
  BASE_RPC_URLS: till.base.url,
  POLYGON_RPC_URLS: till.polygon.url,
  LOG_LEVEL: 'silent',
  MATRIX: '{"demo":"off"}',
  INTENTS: '{"demo":"off"}',
})

/** A node in another process on the database and chains of a fixture, with a plan to die by SIGKILL, or none. */
export async function startCrashChild(till: TillFixture, options: CrashChildOptions = {}): Promise<CrashChild> {
  const { plan, jobs, variant = 'till' } = options
  return controlChild(
    fork(await joinCrashChild(), {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: {
        ...environmentOf(till),
        VARIANT: variant,
        ...options.env,
        ...(jobs === undefined ? {} : { JOBS: jobs.join(',') }),
        ...planOf(plan),
      },
    }),
  )
}

/** With a plan a process that dies; without one nobody dies, and a node in this process counts the calls. */
export async function startLife(till: TillFixture, options: Omit<CrashChildOptions, 'jobs'>): Promise<CrashChild> {
  const { plan, variant = 'till' } = options
  if (plan !== undefined) return startCrashChild(till, options)
  const { node, points } = await startCrashNode({ ...environmentOf(till), ...options.env }, { variant })
  return counted(node.address, points, () => node.stop())
}
