// npm run kill-points -- [--path NAME] [--every N] [--workers K] [--each-call] [--json] [--list]: see docs/simulation.md.
import { parseArgs } from 'node:util'
import { openTill } from '../harness/till-fixture.ts'
import { createMoneyCheck } from './check-outside.ts'
import { killDatabase } from './database-death.ts'
import { dieAtWork, type WorkPath } from './die-at-work.ts'
import { dieInRequest, settleAll } from './die-in-request.ts'
import { type JobHarness, openJobHarness } from './job-harness.ts'
import { joinChild } from './join-child.ts'
import { type NodeVariant, openVariant } from './node-variants.ts'
import { asJson, table, total } from './report.ts'
import { type RequestPath, requestPaths, siteHost } from './request-paths.ts'
import { type Row, runDeaths } from './run-deaths.ts'
import { workPaths } from './work-paths/index.ts'
import { openSites } from './work-paths/support.ts'

const { values } = parseArgs({
  options: {
    /** Money paths by name, comma-separated; `due work` is all that no request waits for. All unless told. */
    path: { type: 'string' },
    /** Every N-th death; each of them unless told. */
    every: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    /** Also between calls that only look, and between the statements of one transaction. */
    'each-call': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const every = Number(values.every)
const workers = Number(values.workers)
const eachCall = values['each-call']
/** With --json the report alone is on standard output. */
const say = (text: string) => void (values.json ? process.stderr : process.stdout).write(`${text}\n`)
const databasePath = 'database'
const dueWork = 'due work'
const variants: readonly NodeVariant[] = ['shops', 'exchange']
const wanted = values.path?.split(',').map((name) => name.trim())
const isWanted = (name: string) => wanted === undefined || wanted.includes(name)
const works = workPaths.filter(({ name }) => isWanted(name) || wanted?.includes(dueWork))
const requests = requestPaths.filter(({ name }) => isWanted(name))
const names = [...requestPaths, ...workPaths].map(({ name }) => name).concat(dueWork, databasePath)

async function dieInRequests(variant: NodeVariant, paths: readonly RequestPath[], program: string): Promise<Row[]> {
  if (paths.length === 0) return []
  const sites = await openSites(1, siteHost)
  const env = { DEMO_HOSTS: sites.demoHosts }
  const till = await openTill({ ...openVariant(variant), env })
  till.base.control.setFinalityLag(2)
  const rows: Row[] = []
  try {
    for (const path of paths) {
      const money = await createMoneyCheck(till)
      const live = (_worker: number, plan?: Parameters<typeof dieInRequest>[2]) =>
        dieInRequest({ till, program, env }, path, plan)
      const check = async () => {
        await settleAll(till)
        await money()
      }
      rows.push(await runDeaths({ path: path.name, every, eachCall, workers, live, check, say }))
    }
  } finally {
    await till.close()
    await sites.close()
  }
  return rows
}

const namesOfSites = 1_500

/** Jobs see all that is due in a database, so each worker has one of its own. */
async function dieAtWorks(variant: NodeVariant, paths: readonly WorkPath[], program: string): Promise<Row[]> {
  if (paths.length === 0) return []
  const sites = await openSites(namesOfSites)
  const env = {
    DEMO_HOSTS: sites.demoHosts,
    CITATIONS: '{"root_seconds":1,"root_minimum_usd":"0.001","threshold_usd":"0.001","release_days":7}',
    // What waits for a person, or for tomorrow, is not what is tried here.
    PAYOUTS: '{"approval_usd":"1000000","daily_limit_usd":"100000000"}',
  }
  const desks: JobHarness[] = []
  const rows: Row[] = []
  try {
    for (let worker = 0; worker < workers; worker += 1) desks.push(await openJobHarness(variant, env, program))
    for (const path of paths) {
      const live = (worker: number, plan?: Parameters<typeof dieAtWork>[2]) =>
        dieAtWork(desks[worker] as JobHarness, path, plan)
      const check = async () => {
        for (const harness of desks) await harness.check()
      }
      rows.push(await runDeaths({ path: path.name, every, eachCall, workers, live, check, say }))
    }
  } finally {
    for (const harness of desks) await harness.close()
    await sites.close()
  }
  return rows
}

async function run(): Promise<Row[]> {
  const program = await joinChild()
  const rows: Row[] = []
  for (const variant of variants) {
    const own = requests.filter((path) => path.variant === variant)
    rows.push(...(await dieInRequests(variant, own, program)))
  }
  for (const variant of variants) {
    const own = works.filter((path) => path.variant === variant)
    rows.push(...(await dieAtWorks(variant, own, program)))
  }
  if (isWanted(databasePath)) rows.push(await killDatabase(every, say))
  return rows
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const unknown = wanted?.filter((name) => !names.includes(name)) ?? []
if (values.list || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`no such path: ${unknown.join(', ')}\n`)
  process.stdout.write(`${names.join('\n')}\n`)
  process.exit(unknown.length > 0 ? 2 : 0)
}
const rows = await run()
const all = total(rows)
if (values.json) process.stdout.write(`${asJson(rows)}\n`)
else say(`\n${table(rows.length > 1 ? [...rows, all] : rows)}\n`)
// Also what proved too little, although nothing was lost in it.
const broken = all.failures.length
say(broken === 0 ? 'nothing lost, nothing doubled' : `${broken} broken: ${all.lost} lost, ${all.doubled} doubled`)
process.exit(broken === 0 ? 0 : 1)
