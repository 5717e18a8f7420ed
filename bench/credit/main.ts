// npx tsx bench/credit/main.ts [--quick]: what a call from credit costs beside other ways to pay; exit code 1 when one is missed.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { handOut } from '../hand-out.ts'
import type { LoadResult } from '../load/run-load.ts'
import { type Child, startChild } from '../process/child.ts'
import { alternate, median, ratioOf } from '../rounds.ts'
import type { CreditPlan } from './load.ts'

const quick = process.argv.includes('--quick')
const rounds = quick ? 3 : 7
const perRound = quick ? 1_200 : 2_000
const wallets = 100
const connections = 32
const target = '/test/feed/live'

type Figures = { cpuMicros: number; wallMicros: number; databaseMicros: number }

const cpuOf = async (server: Child) => (await server.ask<number>('cpu')) + (await server.ask<number>('database_cpu'))

/** CPU that a node and its database use in a second while nobody asks for anything. */
async function idleCpu(server: Child): Promise<number> {
  const [before, startedMs] = [await cpuOf(server), performance.now()]
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  return ((await cpuOf(server)) - before) / ((performance.now() - startedMs) / 1_000)
}

let idleMicrosPerSecond = 0

async function once(server: Child, load: Child, port: number, plan: CreditPlan, at = connections): Promise<Figures> {
  await load.ask('sign', plan)
  const before = await cpuOf(server)
  const databaseBefore = await server.ask<number>('database_cpu')
  const startedMs = performance.now()
  const result = await load.ask<LoadResult>('run', { port, connections: at, secondsMax: 60 })
  const idleMicros = (idleMicrosPerSecond * (performance.now() - startedMs)) / 1_000
  const cpuMicros = (await cpuOf(server)) - before - idleMicros
  const databaseMicros = (await server.ask<number>('database_cpu')) - databaseBefore
  const wrong = Object.keys(result.statuses).filter((status) => status !== '200')
  if (wrong.length > 0)
    throw new Error(`${plan.kind}: ${JSON.stringify(result.statuses)} ${result.sample.slice(0, 900)}`)
  return {
    cpuMicros: cpuMicros / result.requests,
    databaseMicros: databaseMicros / result.requests,
    wallMicros: (result.seconds * 1e6 * at) / result.requests,
  }
}

const say = (text: string) => process.stderr.write(`${text}\n`)

async function termsOf(host: string): Promise<never> {
  const challenge = await fetch(`http://${host}${target}`)
  const required = JSON.parse(Buffer.from(challenge.headers.get('payment-required') ?? '', 'base64').toString())
  return { resourceUrl: required.resource.url, accepted: required.accepts[0] } as never
}

async function measureCosts(home: string) {
  const server = await startChild('credit/side.ts', { ASSAY_HOME: home })
  const load = await startChild('credit/load.ts')
  try {
    const port = await server.ask<number>('port')
    const host = `127.0.0.1:${port}`
    const addresses = await load.ask<string[]>('wallets', wallets)
    await server.ask('credit', addresses)
    await server.ask('subscribe', addresses)
    const terms = await termsOf(host)
    const plan = (kind: CreditPlan['kind'], count = perRound) =>
      ({ kind, host, target, count, wallets, terms }) as unknown as CreditPlan
    const kinds = ['credit', 'subscriber', 'exact'] as const
    for (const kind of kinds) {
      say(`warming up: ${kind}`)
      await once(server, load, port, plan(kind, 3_000))
    }
    idleMicrosPerSecond = await idleCpu(server)
    say('measuring')
    const [credit = [], subscriber = [], exact = []] = await alternate(
      rounds,
      kinds.map((kind) => () => once(server, load, port, plan(kind))),
    )
    say('one at a time')
    const alone = await once(server, load, port, plan('credit', 40), 1)
    return { credit, subscriber, exact, aloneWallMicros: alone.wallMicros }
  } finally {
    await load.stop()
    await server.stop()
  }
}

/** Wall time of one call at a time, each settled on a chain with a block every two seconds. */
async function measureSettled(home: string): Promise<{ blocksEvery2s: number; blocksAtOnce: number }> {
  const server = await startChild('credit/settled-side.ts', { ASSAY_HOME: home })
  const load = await startChild('credit/load.ts')
  try {
    const port = await server.ask<number>('port')
    const host = `127.0.0.1:${port}`
    await server.ask('fund', 10)
    const wall = async (count: number) => {
      const plan = { kind: 'exact', host, target, count, wallets: 10, terms: await termsOf(host) }
      await load.ask('sign', plan)
      const { seconds, requests } = await load.ask<LoadResult>('run', { port, connections: 1, secondsMax: 60 })
      return (seconds * 1e6) / requests
    }
    say('settled on chain')
    await wall(3)
    const blocksAtOnce = await wall(10)
    await server.ask('blocks', 2_000)
    return { blocksAtOnce, blocksEvery2s: await wall(5) }
  } finally {
    await load.stop()
    await server.stop()
  }
}

const home = await mkdtemp(join(tmpdir(), 'assay-bench-'))
const folder = async (name: string) => {
  await mkdir(join(home, name))
  return join(home, name)
}
try {
  const costs = await measureCosts(await folder('costs'))
  const settled = await measureSettled(await folder('settled'))
  const of = (list: readonly Figures[], figure: keyof Figures) => list.map((one) => one[figure])
  const besideSubscriber = {
    // A subscriber's challenge costs a request of its own, which is not counted here.
    cpu: ratioOf(of(costs.credit, 'cpuMicros'), of(costs.subscriber, 'cpuMicros')),
    wall: ratioOf(of(costs.credit, 'wallMicros'), of(costs.subscriber, 'wallMicros')),
  }
  const besideExact = {
    cpu: ratioOf(of(costs.credit, 'cpuMicros'), of(costs.exact, 'cpuMicros')),
    wall: ratioOf(of(costs.credit, 'wallMicros'), of(costs.exact, 'wallMicros')),
  }
  const middle = (list: readonly Figures[], figure: keyof Figures) => Math.round(median(of(list, figure)))
  const timesLessWall = settled.blocksEvery2s / costs.aloneWallMicros
  process.stdout.write(
    `${JSON.stringify(
      {
        calls_per_round: perRound,
        connections,
        cpu_micros: {
          credit: middle(costs.credit, 'cpuMicros'),
          subscriber: middle(costs.subscriber, 'cpuMicros'),
          exact: middle(costs.exact, 'cpuMicros'),
        },
        of_these_the_database: {
          credit: middle(costs.credit, 'databaseMicros'),
          subscriber: middle(costs.subscriber, 'databaseMicros'),
          exact: middle(costs.exact, 'databaseMicros'),
        },
        wall_micros: {
          credit: middle(costs.credit, 'wallMicros'),
          subscriber: middle(costs.subscriber, 'wallMicros'),
          exact: middle(costs.exact, 'wallMicros'),
        },
        beside_subscriber: { ...besideSubscriber, required: 'cpu at most 1.5' },
        beside_exact: { ...besideExact, required: 'cpu at most 0.6' },
        beside_settled: {
          credit_wall_micros: Math.round(costs.aloneWallMicros),
          settled_wall_micros: Math.round(settled.blocksEvery2s),
          settled_wall_micros_when_blocks_come_at_once: Math.round(settled.blocksAtOnce),
          times_less: Number(timesLessWall.toFixed(1)),
          required: 'at least 20',
        },
      },
      null,
      2,
    )}\n`,
  )
  const two = (value: number) => Number(value.toFixed(2))
  handOut(
    {
      figure: "a call from credit beside a subscriber's, CPU",
      asked: 'at most 1.5 x',
      measured: `${two(besideSubscriber.cpu.median)} x`,
      reached: besideSubscriber.cpu.median <= 1.5,
      peer: 'subscription with wallet proof',
      ratio: two(besideSubscriber.cpu.median),
    },
    {
      figure: 'the same beside an exact call, settlement stubbed, CPU',
      asked: 'at most 0.6 x',
      measured: `${two(besideExact.cpu.median)} x`,
      reached: besideExact.cpu.median <= 0.6,
      peer: 'exact payment',
      ratio: two(besideExact.cpu.median),
    },
    {
      figure: 'the same beside a call settled on chain (a block every 2 s), time',
      asked: '20 times less',
      measured: `${two(timesLessWall)} times less`,
      reached: timesLessWall >= 20,
      peer: 'exact payment on chain',
      ratio: two(timesLessWall),
    },
  )
  const reached = besideSubscriber.cpu.median <= 1.5 && besideExact.cpu.median <= 0.6 && timesLessWall >= 20
  process.exitCode = reached ? 0 : 1
} finally {
  await rm(home, { recursive: true, force: true })
}
