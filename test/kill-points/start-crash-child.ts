import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { environmentOf } from '../harness/child-process.ts'
import type { KillPlan } from '../harness/kill-points.ts'
import type { TillFixture } from '../harness/till-fixture.ts'
import type { NodeVariant } from './node-variants.ts'

export type Doomed = {
  url: string
  arm(): Promise<void>
  /** One round of its jobs. */
  round(): Promise<'over' | 'killed'>
  seen(): Promise<string[]>
  ended: Promise<NodeJS.Signals | null>
  stop(): Promise<void>
}

export type DoomedOptions = {
  /** Of the joined program. */
  program: string
  variant: NodeVariant
  plan: KillPlan | undefined
  /** Names of the jobs of a round; without any it does none. */
  jobs?: readonly string[]
  env?: Record<string, string>
}

/** A process on the database and chains of a fixture, with a plan to die by SIGKILL, or none. */
export async function startDoomed(till: TillFixture, options: DoomedOptions): Promise<Doomed> {
  const { plan, jobs } = options
  const child = fork(options.program, {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...environmentOf(till),
      HOUSE: options.variant,
      ...options.env,
      ...(jobs === undefined ? {} : { JOBS: jobs.join(',') }),
      ...(plan === undefined ? {} : { KILL_AT: String(plan.at), KILL_WHEN: plan.when }),
    },
  })
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
