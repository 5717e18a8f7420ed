import { setTimeout as pause } from 'node:timers/promises'
import { expectThat } from '../report.ts'
import type { World } from '../world.ts'
import { at, atApi, brief, jsonOf, type Step } from './step.ts'

/** What nobody can give on the first morning, and why. */
const empty: readonly [string, string][] = [
  [at('/matrix/squeeze/live'), 'no_data'],
  [at('/matrix/ftd/vip'), 'no_data'],
  [at('/matrix/borrow/live'), 'no_licence'],
  [at('/matrix/subscribe/standard'), 'no_feed'],
  [at('/matrix/subscribe/vip'), 'no_feed'],
  [at('/poly/matrix/subscribe/standard'), 'no_feed'],
  [at('/poly/matrix/subscribe/vip'), 'no_feed'],
  [atApi('/v1/market/intent-stream'), 'no_signal'],
]

const emptyPosts: readonly [string, string][] = [
  [atApi('/v1/options/buy'), 'no_index'],
  [atApi('/v1/options/write'), 'no_index'],
]

export const beginEmpty: Step = async (world, report) => {
  report.step('1. empty')
  await report.check('a production node with every shop starts on an empty database', async () => {
    const startedMs = performance.now()
    await world.startNode()
    return `ready after ${((performance.now() - startedMs) / 1000).toFixed(1)} s on ${world.postgres.name}, ${world.bus}; Base at block ${world.base.block}, Polygon at ${world.polygon.block}`
  })
  const asks = [
    ...empty.map(([url, why]) => ({ url, why, method: 'GET' as const })),
    ...emptyPosts.map(([url, why]) => ({ url, why, method: 'POST' as const })),
  ]
  for (const { url, why, method } of asks)
    await report.check(`${method} ${new URL(url).pathname} is not for sale: ${why}`, async () => {
      const seen = await world.ask({ url, method })
      const { code, why: said, since } = jsonOf(seen)
      expectThat(seen.status === 503 && code === 'not_available' && said === why, brief(seen))
      return `503 ${code}, ${said} since ${since}`
    })
  await report.check('what works is for sale all the same: reports, credit, echo, readiness', async () => {
    const paths = [`/v1/report/${world.base.tokens[0]}`, '/v1/credit/topup?usd=5', '/v1/sandbox/echo?message=hello']
    const seen = await Promise.all(paths.map((path) => world.ask({ url: at(path) })))
    const ready = await world.ask({ url: at('/readyz') })
    const statuses = [...seen.map(({ status }) => status), ready.status]
    expectThat(statuses.join() === '402,402,402,200', `${statuses.join()} ${ready.text.slice(0, 300)}`)
    return `402, 402, 402; readyz 200 with ${jsonOf(ready).not_for_sale?.length} routes not for sale`
  })
  await report.check('a search in an empty index is not for sale', async () => {
    const buyer = await world.newBuyer(1)
    const seen = await world.buy({ key: buyer.key, url: atApi('/v1/match'), method: 'POST', body: { query: 'soil' } })
    const left = await world.balance('base', buyer)
    const refused = seen.status === 503 && jsonOf(seen).why === 'no_pages'
    expectThat(refused && left === 1_000_000n, `${brief(seen)}; ${left} micro-USDC left`)
    return '503 no_pages, nothing taken'
  })
  await report.check('an idle node makes at most 60 calls a minute to the providers of a chain', async () => {
    const start = await world.rpcCalls()
    expectThat(start.base.length > 0 && start.polygon.length > 0, 'no call of the start was counted')
    const { base, polygon } = await idleMinute(world)
    const seen = `Base ${base.length}, Polygon ${polygon.length}`
    expectThat(
      base.length <= 60 && polygon.length <= 60,
      `${seen}; on Base ${tally(base)}; on Polygon ${tally(polygon)}`,
    )
    return seen
  })
}

/** A minute in which the node itself sends a transaction, as it does once to deploy its contract, is not idle. */
async function idleMinute(world: World): Promise<{ base: string[]; polygon: string[] }> {
  for (let minutesLeft = 3; ; minutesLeft -= 1) {
    await world.rpcCalls()
    await pause(60_000)
    const calls = await world.rpcCalls()
    const sent = [...calls.base, ...calls.polygon].includes('eth_sendRawTransaction')
    if (!sent || minutesLeft === 1) return calls
  }
}

function tally(methods: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const method of methods) counts.set(method, (counts.get(method) ?? 0) + 1)
  return [...counts].map(([method, count]) => `${count} ${method}`).join(', ')
}
