import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { environmentOf } from '../support/child-process.ts'
import type { KillPlan } from '../support/kill-points.ts'
import type { TillFixture } from '../support/till-fixture.ts'
import type { House } from './houses.ts'

export type Doomed = {
  /** Undefined when it died before it was ready. */
  url: string | undefined
  arm(): Promise<void>
  seen(): Promise<string[]>
  ended: Promise<NodeJS.Signals | null>
  stop(): Promise<void>
}

/** A process on the database and chains of a fixture, with a plan to die by SIGKILL, or none. */
export async function startDoomed(
  till: TillFixture,
  options: { house: House; plan?: KillPlan; jobs?: boolean; env?: Record<string, string> },
): Promise<Doomed> {
  const { plan } = options
  const child = fork(join(import.meta.dirname, 'child.ts'), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...environmentOf(till),
      HOUSE: options.house,
      ...options.env,
      ...(options.jobs ? { JOBS: '1' } : {}),
      ...(plan === undefined ? {} : { KILL_AT: String(plan.at), KILL_WHEN: plan.when }),
    },
  })
  const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null)
  const first = await Promise.race([answer(child, 'ready'), ended.then(() => undefined)])
  return {
    url: first as string | undefined,
    ended,
    arm: async () => {
      child.send('arm')
      await once(child, 'message')
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
