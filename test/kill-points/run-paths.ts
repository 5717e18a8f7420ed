import type { KillPlan } from '../harness/kill-points.ts'
import { createMoneyCheck } from '../harness/money-check.ts'
import { type NodeVariant, openVariant } from '../harness/node-variants.ts'
import { openTill } from '../harness/till-fixture.ts'
import { dieAtWork, type WorkPath } from './die-at-work.ts'
import { dieInRequest, settleAll } from './die-in-request.ts'
import { type JobHarness, openJobHarness } from './job-harness.ts'
import { type RequestPath, siteHost } from './request-paths.ts'
import { type DeathsWanted, type Row, runDeaths } from './run-deaths.ts'
import { openSites } from './work-paths/support.ts'

export type DeathOptions = Pick<DeathsWanted, 'every' | 'eachCall' | 'workers' | 'say'>

/** One fixture for all of them; each has its own buyers. */
export async function dieInRequests(
  variant: NodeVariant,
  paths: readonly RequestPath[],
  options: DeathOptions,
): Promise<Row[]> {
  if (paths.length === 0) return []
  const sites = await openSites(1, siteHost)
  // With a day of figures the stream is for sale, and hardly anybody buys searches beside what is tried here.
  const env = { DEMO_HOSTS: sites.demoHosts, INTENTS: '{"demo_calls_per_second":0.001}' }
  const till = await openTill({ ...(await openVariant(variant)), env })
  till.base.control.setFinalityLag(2)
  const rows: Row[] = []
  try {
    for (const path of paths) {
      const money = await createMoneyCheck(till)
      const live = (_worker: number, plan?: KillPlan) => dieInRequest({ till, env }, path, plan)
      const check = async () => {
        await settleAll(till)
        await money()
      }
      rows.push(await runDeaths({ ...options, path: path.name, live, check }))
    }
  } finally {
    await till.close()
    await sites.close()
  }
  return rows
}

const namesOfSites = 1_500

/** Jobs see all that is due in a database, so each worker has one of its own. */
export async function dieAtWorks(
  variant: NodeVariant,
  paths: readonly WorkPath[],
  options: DeathOptions,
): Promise<Row[]> {
  if (paths.length === 0) return []
  const sites = await openSites(namesOfSites)
  const env = {
    DEMO_HOSTS: sites.demoHosts,
    CITATIONS: '{"root_seconds":1,"root_minimum_usd":"0.001","threshold_usd":"0.001","release_days":7}',
    // What waits for a person, or for tomorrow, is not what is tried here.
    PAYOUTS: '{"approval_usd":"1000000","daily_limit_usd":"100000000"}',
  }
  const harnesses: JobHarness[] = []
  const rows: Row[] = []
  try {
    for (let worker = 0; worker < options.workers; worker += 1) harnesses.push(await openJobHarness(variant, env))
    for (const path of paths) {
      const live = (worker: number, plan?: KillPlan) => dieAtWork(harnesses[worker] as JobHarness, path, plan)
      const check = async () => {
        for (const harness of harnesses) await harness.check()
      }
      rows.push(await runDeaths({ ...options, path: path.name, live, check }))
    }
  } finally {
    for (const harness of harnesses) await harness.close()
    await sites.close()
  }
  return rows
}
