import { join } from 'node:path'
import { installTarballs, packAll } from '../../test/harness/unpacked.ts'
import { ask, type PaymentRequired, paidTarget, type Server } from '../figures/setup.ts'
import { decodeHeader } from '../load/exchange.ts'
import type { RequestPlan } from '../load/requests.ts'
import { type Child, startChild } from '../process/child.ts'
import type { Frame } from '../process/profiling.ts'
import { notePath } from '../sides/notes-shop.ts'
import type { CreditPlan } from '../ways-to-pay/load.ts'

/** A hot path: what it is, and how it is driven and profiled. */
export type HotPath = { name: string; what: string; profile(home: string): Promise<Frame[]> }

const connections = 48
const warmSeconds = 4
const seconds = 6

/** The node alone is profiled, warm, while `work` goes on. */
async function looked(server: Child, work: () => Promise<unknown>): Promise<Frame[]> {
  await server.ask('profile_start')
  await work()
  return server.ask<Frame[]>('profile_stop')
}

async function withChildren<T>(work: (start: typeof startChild) => Promise<T>): Promise<T> {
  const children: Child[] = []
  try {
    return await work(async (...given) => {
      const child = await startChild(...given)
      children.push(child)
      return child
    })
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}

type Plan = (server: Server, count: number) => Promise<RequestPlan>

const driven =
  (file: string, planFor: Plan, env: Record<string, string> = {}) =>
  (home: string) =>
    withChildren(async (start) => {
      const load = await start('load/load-process.ts')
      const child = await start(file, { ...env, ASSAY_HOME: home })
      const port = await child.ask<number>('port')
      const server = { child, port, host: `127.0.0.1:${port}` }
      const run = async (secondsMax: number, count: number) =>
        load.ask('run', { connections, secondsMax, port, plan: await planFor(server, count) })
      await run(warmSeconds, 3_000)
      return looked(child, () => run(seconds, 4_000))
    })

const node = (planFor: Plan) => driven('sides/assay.ts', planFor)
/** As a seller installs it. */
const embedded = (planFor: Plan) => async (home: string) => {
  await installTarballs(home, await packAll(), ['protocol', 'till'])
  return driven('sides/till-seller.ts', planFor, { TILL: join(home, 'node_modules/@assay/till') })(home)
}

const same =
  (target: string): Plan =>
  async ({ host }) => ({ kind: 'same', host, target })

const bought: Plan = async (server, count) => {
  const { resource, accepts } = decodeHeader<PaymentRequired>(await ask(server, paidTarget), 'payment-required')
  const accepted = accepts[0]
  if (!accepted) throw new Error('nothing is offered')
  const terms = { resourceUrl: resource.url, accepted }
  return { kind: 'paid', host: server.host, target: paidTarget, count, terms }
}

const drawn = (home: string) =>
  withChildren(async (start) => {
    const load = await start('ways-to-pay/load.ts')
    const server = await start('ways-to-pay/side.ts', { ASSAY_HOME: home })
    const port = await server.ask<number>('port')
    const wallets = 100
    await server.ask('credit', await load.ask<string[]>('wallets', wallets))
    const draw = async (count: number, work: (run: () => Promise<unknown>) => Promise<Frame[] | unknown>) => {
      const plan: CreditPlan = { kind: 'credit', host: `127.0.0.1:${port}`, target: '/test/feed/live', count, wallets }
      await load.ask('sign', plan)
      return work(() => load.ask('run', { port, connections: 32, secondsMax: 60 }))
    }
    for (let lap = 0; lap < 3; lap += 1) await draw(3_000, (run) => run())
    return (await draw(4_000, (run) => looked(server, run))) as Frame[]
  })

const settled = (home: string) =>
  withChildren(async (start) => {
    const server = await start('sides/settle-assay.ts', { PAYERS: '200', ASSAY_HOME: home })
    const settle = async (times: number) => {
      for (let round = 0; round < times; round += 1) await server.ask('settle')
    }
    await settle(3)
    return looked(server, () => settle(6))
  })

const streamed = (home: string) =>
  withChildren(async (start) => {
    const server = await start('intents/server.ts', { ASSAY_HOME: join(home, 'node') })
    const readers = await start('intents/readers.ts')
    const { url, token } = await server.ask<{ url: string; token: string }>('address')
    await server.ask('publish', 100)
    await readers.ask('open', { url, token, healthy: 2_700, slow: 300 })
    await readers.ask('measure')
    const publish = async (times: number) => {
      for (let event = 0; event < times; event += 1) {
        await server.ask('publish', 1)
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
    await publish(8)
    return looked(server, () => publish(24))
  })

export const hotPaths: readonly HotPath[] = [
  { name: '402', what: 'an unpaid request', profile: node(same(paidTarget)) },
  { name: 'free', what: 'a free answer, just signed', profile: node(same(`${notePath}/${'0'.repeat(40)}`)) },
  {
    name: 'signed',
    what: 'a free answer, newly signed',
    profile: node(async ({ host }) => ({ kind: 'distinct', host, target: `${notePath}/{n}` })),
  },
  { name: 'paid', what: 'a purchase, settlement stubbed', profile: node(bought) },
  { name: 'till-402', what: 'an unpaid request, till on Hono', profile: embedded(same(paidTarget)) },
  { name: 'till-paid', what: 'a purchase, till on Hono, settlement stubbed', profile: embedded(bought) },
  { name: 'credit', what: 'a call from credit', profile: drawn },
  { name: 'settling', what: 'settling 200 payments at once, with the embedded chain', profile: settled },
  { name: 'streams', what: 'an event to 3,000 streams', profile: streamed },
]
