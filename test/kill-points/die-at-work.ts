import { Broken } from '../harness/broken.ts'
import { startCrashChild } from '../harness/crash-child.ts'
import type { KillPlan } from '../harness/kill-points.ts'
import type { NodeVariant } from '../harness/node-variants.ts'
import { type JobHarness, until } from './job-harness.ts'
import type { Life } from './run-deaths.ts'

/** What a node does with money by itself, or when a signed request asks for it. */
export type WorkPath = {
  name: string
  variant: NodeVariant
  /** One round of them, in this order. */
  jobs: readonly string[]
  /** Brings about that something is due, and says how to tell that it was done. */
  owe(harness: JobHarness): Promise<Due>
}

export type Due = {
  /** What somebody asks of the process first, by HTTP alone; asked again of the next one when the connection breaks. */
  ask?(origin: string): Promise<void>
  done(): Promise<boolean>
  /** Throws unless it was done exactly once. */
  check(): Promise<void>
}

const roundsMax = 60
const betweenRoundsMs = 150

/** Work of one kind falls due; a process takes it up and may die at it, and the next one goes on from there. */
export async function dieAtWork(harness: JobHarness, path: WorkPath, plan?: KillPlan): Promise<Life> {
  const { till, env } = harness
  // Up before anything is due: a start first resumes what a crash left behind.
  const crashing = await startCrashChild(till, { variant: path.variant, env, plan, jobs: path.jobs })
  const due = await path.owe(harness).catch(async (error: unknown) => {
    await crashing.stop()
    throw error
  })
  // The process that brought it about may hold what it worked with before.
  await takeLeases(harness)
  await crashing.arm()
  const rounds: number[] = []
  let died = false
  if (due.ask)
    died = await due.ask(crashing.url).then(
      () => false,
      async (error: unknown) => {
        if ((await Promise.race([crashing.ended, pause(2_000)])) === 'SIGKILL') return true
        throw error
      },
    )
  const count = async () => {
    if (plan === undefined) rounds.push((await crashing.seen()).length)
  }
  if (due.ask) await count()
  for (let round = 0; !died && round < roundsMax && !(await due.done()); round += 1) {
    died = (await crashing.round()) === 'killed'
    await harness.mine()
    if (!died) await count()
    // What a process knows of the chain it keeps for a moment.
    if (!died && round > 0) await pause(betweenRoundsMs)
  }
  const calls = plan === undefined ? await crashing.seen() : []
  await crashing.stop()
  const diedAtMs = Date.now()
  if (died) await resumeWork(harness, path, due)
  else if (!(await due.done())) throw new Broken('lost', 'it was not done, and nobody died')
  const recoveryMs = Date.now() - diedAtMs
  // Whatever is still done after the end changes nothing.
  await takeLeases(harness)
  await harness.run(...recovery, ...path.jobs)
  await harness.mine()
  await due.check()
  return { calls, rounds, died, recoveryMs: died ? recoveryMs : 0 }
}

const recovery = ['payments.recover', 'wallets.recover']

async function resumeWork(harness: JobHarness, path: WorkPath, due: Due): Promise<void> {
  if (due.ask) {
    const { ask } = due
    await until('an answer', () =>
      ask(harness.till.node.address).then(
        () => true,
        async () => {
          await harness.mine()
          await harness.run(...recovery)
          return false
        },
      ),
    )
  }
  await until('all done', async () => {
    if (await due.done()) return true
    await takeLeases(harness)
    await harness.run(...recovery, ...path.jobs)
    await harness.mine()
    return false
  }).catch((error: unknown) => {
    throw new Broken('lost', String(error))
  })
}

/** Half a minute passes: a job of the dead process is anybody's again. */
const takeLeases = ({ till }: JobHarness) => till.db.owner.query(`update job_lease set expires_at = '-infinity'`)

const pause = (ms: number) => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms))
