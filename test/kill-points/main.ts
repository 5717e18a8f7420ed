// npm run kill-points -- [--path NAME] [--every N] [--at once K]: see docs/simulation.md.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { spentOnChain } from '../support/invariants.ts'
import type { KillPlan } from '../support/kill-points.ts'
import { openTill, type TillFixture } from '../support/till-fixture.ts'
import { buyThroughDeath } from './buy-through-death.ts'
import { createMoneyCheck } from './check-outside.ts'
import { killDatabase } from './database-death.ts'
import { dieAtWork } from './due-work.ts'
import { type House, housesOf } from './houses.ts'
import { drawThroughDeath, type RequestPath, requestPaths, siteHost } from './request-paths.ts'
import { startDoomed } from './start-doomed.ts'

const { values } = parseArgs({
  options: {
    /** One money path by name, `due work` or `database`; all unless told. */
    path: { type: 'string' },
    /** Every N-th port call; each of them unless told. */
    every: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
  },
})
const every = Number(values.every)
const say = (text: string) => process.stdout.write(`${text}\n`)

/** A page to cite. */
async function openSite() {
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(
      '<html><body><article><h1>Page</h1><p>Words worth citing, on a page of their own.</p></article></body></html>',
    )
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const { port } = site.address() as AddressInfo
  return { demoHosts: `${siteHost}=127.0.0.1:${port}`, close: () => new Promise((resolve) => site.close(resolve)) }
}

async function purchase(till: TillFixture, path: RequestPath, env: Record<string, string>, plan?: KillPlan) {
  const buyer = await till.newBuyer(path.fundedMicro)
  const wanted = await path.wanted(till, buyer)
  const before = await spentOnChain(till, 'base', buyer.address, path.fundedMicro)
  const doomed = await startDoomed(till, { house: path.house, env, ...(plan === undefined ? {} : { plan }) })
  if (doomed.url === undefined) throw new Error('it died before its time')
  const origins = {
    first: doomed.url,
    quoted: doomed.arm,
    after: async () => {
      const signal = await doomed.ended
      if (signal !== 'SIGKILL') throw new Error(`it ended by ${signal}`)
      return till.node.address
    },
  }
  let priceMicro = 0n
  if (path.draws) await doomed.arm()
  if (path.draws) await drawThroughDeath(buyer, wanted, origins)
  else ({ priceMicro } = await buyThroughDeath(till, buyer, wanted, origins))
  const calls = plan === undefined ? await doomed.seen() : []
  await doomed.stop()
  const spent = (await spentOnChain(till, 'base', buyer.address, path.fundedMicro)) - before
  if (spent !== priceMicro) throw new Error(`charged ${spent} for what costs ${priceMicro}`)
  const effects = await path.effects(till, buyer)
  if (effects !== 1) throw new Error(`${effects} effects instead of one`)
  return calls
}

async function killRequests(till: TillFixture, path: RequestPath, env: Record<string, string>): Promise<number> {
  const check = await createMoneyCheck(till)
  const calls = await purchase(till, path, env)
  const plans = calls
    .flatMap((_, index): KillPlan[] => [
      { at: index + 1, when: 'before' },
      { at: index + 1, when: 'after' },
    ])
    .filter((_, index) => index % every === 0)
  const queue = [...plans]
  let broken = 0
  const worker = async () => {
    for (let plan = queue.shift(); plan; plan = queue.shift()) {
      const name = `${path.name}, killed ${plan.when} call ${plan.at} (${calls[plan.at - 1]})`
      await purchase(till, path, env, plan).catch((error: unknown) => {
        broken += 1
        say(`BROKEN ${name}: ${String(error)}`)
      })
    }
  }
  await Promise.all(Array.from({ length: Number(values.workers) }, worker))
  await settle(till)
  await check().catch((error: unknown) => {
    broken += 1
    say(`BROKEN ${path.name}, books and chain: ${String(error)}`)
  })
  say(
    `${broken === 0 ? 'held  ' : 'BROKEN'} ${path.name}: ${plans.length} deaths at ${calls.length} port calls, ${broken} broken`,
  )
  return broken
}

/** Until nothing is under way any more. */
async function settle(till: TillFixture): Promise<void> {
  for (const giveUpAt = Date.now() + 60_000; Date.now() < giveUpAt; ) {
    const { rows } = await till.db.owner.query<{ n: bigint }>(
      `select count(*) as n from payment where state in ('claimed','settling','unknown','settled')`,
    )
    if (rows[0]?.n === 0n) return
    await till.base.control.mine(1)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error('payments stay in a middle state')
}

async function killAllRequests(house: House): Promise<number> {
  const paths = requestPaths.filter((one) => one.house === house && (!values.path || values.path === one.name))
  if (paths.length === 0) return 0
  const site = await openSite()
  const env = { DEMO_HOSTS: site.demoHosts }
  const till = await openTill({ ownShops: housesOf[house].ownShops, shops: housesOf[house].shops(), env })
  till.base.control.setFinalityLag(2)
  let broken = 0
  try {
    for (const path of paths) broken += await killRequests(till, path, env)
  } finally {
    await till.close()
    await site.close()
  }
  return broken
}

let broken = (await killAllRequests('shops')) + (await killAllRequests('exchange'))
if (!values.path || values.path === 'due work') broken += await dieAtWork(every, say)
if (!values.path || values.path === 'database') broken += await killDatabase(say)
say(broken === 0 ? 'nothing lost, nothing doubled' : `${broken} broken`)
process.exit(broken === 0 ? 0 : 1)
