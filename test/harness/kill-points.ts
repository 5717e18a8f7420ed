import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import { around, type CallPlan, interceptPorts } from './port-calls.ts'

export type KillPlan = CallPlan

/** Where to die, as the environment of a process says it. */
export const planOf = (plan: KillPlan | undefined) =>
  plan === undefined ? {} : { KILL_AT: String(plan.at), KILL_WHEN: plan.when }

export const planIn = ({ KILL_AT, KILL_WHEN }: NodeJS.ProcessEnv): KillPlan | undefined =>
  KILL_AT === undefined ? undefined : { at: Number(KILL_AT), when: KILL_WHEN === 'after' ? 'after' : 'before' }

/** Counts calls of the ports and ends the process at one of them, without any chance to tidy up. */
export type KillPoints = {
  intercept: Interceptors
  /** Calls count from here on. */
  arm(): void
  seen(): readonly string[]
}

export function createKillPoints(plan: KillPlan | undefined): KillPoints {
  const calls: string[] = []
  let armed = false
  return {
    arm: () => {
      armed = true
    },
    seen: () => calls,
    intercept: interceptPorts((name, work) => {
      if (!armed) return work()
      calls.push(name)
      const when = plan?.at === calls.length ? plan.when : undefined
      return around(when, work, () => process.kill(process.pid, 'SIGKILL'))
    }),
  }
}
