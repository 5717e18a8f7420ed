import { join } from 'node:path'
import type { Wallet } from '../operator.ts'
import type { Ask } from '../outside/buyers.ts'
import { hosts } from '../outside/names.ts'
import { expectThat } from '../report.ts'
import { until } from '../until.ts'
import type { World } from '../world.ts'
import { at, atApi, brief, jsonOf, type Step } from './step.ts'

const page = `https://${hosts.sites[0]}/soil`
const agents = 12

/** Buys with the stock client, then verifies what was kept, offline, with `assay verify`. */
async function sell(world: World, route: string, ask: Ask, ...demands: string[]): Promise<string> {
  const evidence = join(world.home, `${route}.json`)
  const seen = await world.buy({ ...ask, evidence })
  expectThat(seen.status === 200, brief(seen))
  const { code, out, err } = await world.assay('verify', evidence, '--json', ...demands)
  expectThat(code === 0, `assay verify ended with ${code}: ${(err || out).slice(0, 400)}`)
  return `200 in ${seen.ms} ms, verified`
}

export const sellEverything: Step = async (world, report, planted) => {
  report.step('3. first sale of everything')
  if (planted === 'facilitator') await world.facilitator('moves_nothing')
  const buyer = await world.newBuyer(50_000)
  const sold = new Set<string>()
  const sale = async (route: string, ask: Ask, ...demands: string[]) => {
    const { pathname } = new URL(ask.url)
    const asked = `${ask.method ?? 'GET'} ${pathname} is bought with @x402/fetch and verified`
    if (await report.check(asked, () => sell(world, route, { key: buyer.key, ...ask }, ...demands))) sold.add(route)
  }
  const before = await world.balance('base', world.operator.payTo)
  await sale('sandbox.echo.get', { url: at('/v1/sandbox/echo?message=hello') })
  await sale('sandbox.echo.post', { url: at('/v1/sandbox/echo'), method: 'POST', body: { message: 'hello' } })
  await sale('sandbox.meter', { url: at('/v1/sandbox/meter?text=hello') })
  await sale('credit.topup', { url: at('/v1/credit/topup?usd=20') })
  await sale('credit.topup.post', { url: at('/v1/credit/topup'), method: 'POST', body: { usd: '20' } })
  await sale('tokens.report', { url: at(`/v1/report/${world.base.tokens[0]}`) })
  await sale('notifications.plan', { url: at('/v1/notifications/plan'), method: 'POST' })
  await sale('matrix.live', { url: at('/matrix/ftd/live?limit=5') })
  await sale('matrix.vip', { url: at('/matrix/squeeze/vip?limit=5') })
  await sale('matrix.vip.bulk', { url: at(`/matrix/ftd/bulk/${await bulkFile(world)}`) })
  for (const tier of ['standard', 'vip']) {
    await sale(`subscriptions.${tier}.base`, { url: at(`/matrix/subscribe/${tier}`) })
    await sale(`subscriptions.${tier}.polygon`, { url: at(`/poly/matrix/subscribe/${tier}`), network: 'eip155:137' })
  }
  const query = { query: 'container gardening soil' }
  await sale('citations.match', { url: atApi('/v1/match'), method: 'POST', body: query })
  const attest = { source_url: page, agent_wallet: buyer.address }
  const logged = ['--policy', 'logged']
  await sale('cite.attest', { url: atApi('/v1/cite/attest'), method: 'POST', body: attest }, ...logged)
  const claim = { statement: 'A pot loses its nutrients.', sources: [page], agent_wallet: buyer.address }
  await sale('claims.anchor', { url: atApi('/v1/claims/anchor'), method: 'POST', body: claim }, ...logged)
  const cited = jsonOf(await world.buy({ key: buyer.key, url: atApi('/v1/cite/attest'), method: 'POST', body: attest }))
  const remitted = { parent: String(cited.id), sale_price_micro: '1000000' }
  await sale('royalties.remit', { url: atApi('/v1/royalties/remit'), method: 'POST', body: remitted }, ...logged)
  await sellDemand(world, report, sale)
  await report.check('every paid route of the OpenAPI document was sold', () => everyRoute(world, sold))
  await report.check('the money is at PAY_TO, settled by the facilitator with checked tokens', async () => {
    const gained = (await world.balance('base', world.operator.payTo)) - before
    const seen = await world.facilitatorSeen()
    expectThat(
      gained > 6_000_000_000n && seen.refused_tokens === 0 && seen.settled > 10,
      JSON.stringify({ gained: String(gained), ...seen }),
    )
    return `${gained} micro-USDC on Base; ${seen.settled} settlements, no token refused`
  })
}

/** A month of the feed, once it is listed; without one the sale fails and says why. */
const bulkFile = (world: World): Promise<string> =>
  until('a month is listed', async () => {
    const { data = [] } = jsonOf(await world.ask({ url: at('/matrix/ftd/bulk') }))
    return (data as { file: string }[]).find(({ file }) => file.endsWith('.csv'))?.file
  }).catch(() => '2000-01.csv')

type Sale = (route: string, ask: Ask) => Promise<void>

/** Demand must be there before it can be sold: agents with bonds that search, then the stream, then options on it. */
async function sellDemand(world: World, report: Parameters<Step>[1], sale: Sale): Promise<void> {
  await report.check(`${agents} agents with bonds search until demand is published`, async () => {
    const wallets = await Promise.all(Array.from({ length: agents }, () => world.newBuyer(100)))
    await Promise.all(wallets.map((wallet) => lockBond(world, wallet)))
    const search = ({ key }: Wallet) =>
      world.buy({ key, url: atApi('/v1/match'), method: 'POST', body: { query: 'container gardening soil' } })
    let rounds = 0
    await until(
      'series are listed',
      async () => {
        rounds += 1
        await Promise.all(wallets.map(search))
        const { status } = await world.ask({ url: atApi('/v1/options/buy'), method: 'POST' })
        return status === 402
      },
      150,
    )
    return `published after ${rounds} rounds`
  })
  await sale('market.intents.stream', { url: atApi('/v1/market/intent-stream') })
  const series = jsonOf(await world.ask({ url: atApi('/v1/options/series') })).data ?? []
  const symbol = series[0]?.symbol
  const [writer, holder] = world.operator.traders
  await Promise.all([world.fund(writer, 20_000), world.fund(holder, 1_000)])
  const body = { symbol, premium_usd: '60', quantity: 1 }
  await sale('options.write', { url: atApi('/v1/options/write'), method: 'POST', body, key: writer.key })
  await until('the offer is in the book', async () => {
    const { text } = await world.ask({ url: atApi(`/v1/options/series/${symbol}`) })
    return (jsonOf({ text }).book ?? []).length > 0
  }).catch(() => undefined)
  await sale('options.buy', { url: atApi('/v1/options/buy'), method: 'POST', body: { symbol }, key: holder.key })
  const order = { symbol, limit_usd: '50' }
  await sale('options.order', { url: atApi('/v1/options/order'), method: 'POST', body: order, key: holder.key })
}

async function lockBond(world: World, { key }: Wallet): Promise<void> {
  const bought = await world.buy({ key, url: at('/v1/credit/topup?usd=5') })
  expectThat(bought.status === 200, brief(bought))
  await until('a bond is locked', async () => {
    const body = { usd: '1', days: 60 }
    return (await world.signed({ key, url: at('/v1/credit/bond'), method: 'POST', body })).status === 200
  })
}

async function everyRoute(world: World, sold: ReadonlySet<string>): Promise<string> {
  const { paths } = jsonOf(await world.ask({ url: at('/openapi/full.json') })) as {
    paths: Record<string, Record<string, { operationId?: string; 'x-payment-info'?: unknown }>>
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const offers = operations.flatMap((one) => (one['x-payment-info'] ? [one.operationId ?? ''] : []))
  const missing = offers.filter((id) => !sold.has(id))
  expectThat(offers.length > 0 && missing.length === 0, `not sold: ${missing.join(', ')}`)
  return `${offers.length} of ${offers.length}`
}
