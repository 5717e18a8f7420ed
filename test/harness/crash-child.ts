import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { joinCrashChild } from './join-crash-child.ts'
import type { KillPlan } from './kill-points.ts'
import type { NodeVariant } from './node-variants.ts'
import type { TillFixture } from './till-fixture.ts'

export type CrashChild = {
  url: string
  /** From now on it counts its port calls, and dies at the one of its plan. */
  arm(): Promise<void>
  /** One round of its jobs. */
  round(): Promise<'over' | 'killed'>
  seen(): Promise<string[]>
  /** Resolves when the process has ended, with the signal that ended it. */
  ended: Promise<NodeJS.Signals | null>
  stop(): Promise<void>
}

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

/** Where to die, as a crash child reads it. */
export const planOf = (plan: KillPlan | undefined) =>
  plan === undefined ? {} : { KILL_AT: String(plan.at), KILL_WHEN: plan.when }

/** The messages that every crash child knows. */
export async function controlChild(child: ChildProcess): Promise<CrashChild> {
  const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null)
  const url = await Promise.race([answer(child, 'ready'), ended.then(() => undefined)])
  if (url === undefined) throw new Error('the crashing process ended before its time')
  return {
    url: url as string,
    ended,
    arm: async () => {
      child.send('arm')
      await once(child, 'message')
    },
    round: async () => {
      if (!child.connected) return 'killed'
      const over = answer(child, 'round').then(() => 'over' as const)
      // It may die while this is on its way to it.
      child.send('round', () => {})
      return Promise.race([over, ended.then(() => 'killed' as const)])
    },
    seen: async () => {
      child.send('seen')
      return (await answer(child, 'seen')) as string[]
    },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.send('stop')
      await ended
    },
  }
}

async function answer(child: ChildProcess, field: string): Promise<unknown> {
  for (;;) {
    const [sent] = (await once(child, 'message')) as [unknown]
    if (typeof sent === 'object' && sent !== null && field in sent) return (sent as Record<string, unknown>)[field]
  }
}
