// npx tsx bench/ways-to-pay/main.ts [--quick]: what a call costs by each way to pay; exit code 1 when one is missed.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { LoadResult } from '../load/run-load.ts'
import { median } from '../percentiles.ts'
import { type Child, startChild } from '../process/child.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import { reportFigures } from '../report-figures.ts'
import { ratioOf } from '../rounds.ts'
import type { CreditPlan } from './load.ts'

const quick = process.argv.includes('--quick')
const rounds = 3
const perRound = quick ? 1_200 : 3_200
/** The stock server answers a few dozen calls in a second with its own storage, so that it is asked fewer. */
const countOf = (kind: string, count: number) => (kind === 'stock channel' ? Math.ceil(count / 8) : count)
const wallets = 100
const connections = 32
const isChannel = (kind: string) => kind === 'channel' || kind === 'stock channel'
const targetOf = (kind: string) =>
  isChannel(kind) ? '/test/cheap' : kind === 'upto' ? '/v1/sandbox/meter?text=hello' : '/test/feed/live'
/** A node goes on compiling what it runs for its first ten thousand calls, and the more there is of it the longer. */
const warmLaps = quick ? 1 : 2
const idleMs = quick ? 6_000 : 30_000
const nothing = { node: 0, database: 0 }
const asksFirst: ReadonlySet<string> = new Set(['subscriber', 'mpp'])
/** For what follows at once: sealing, deliveries, finality. */
const deferredMs = 3_000

type Figures = { cpuMicros: number; wallMicros: number; databaseMicros: number; logBytes: number }
type Used = { node: number; database: number; logBytes: number; atMs: number }
type Kind = CreditPlan['kind']

/** Its own node for each way to pay: what a call leaves to be done later is done by the node that sold it. */
type Side = { kind: Kind; server: Child; port: number; plan: CreditPlan; idle: { node: number; database: number } }

const kinds = ['credit', 'subscriber', 'exact', 'permit2', 'upto', 'mpp', 'channel', 'stock channel'] as const
const titles = {
  ...{ credit: 'a call from credit', exact: 'an exact call', permit2: 'an exact call by Permit2' },
  ...{ upto: 'a call by upto', mpp: 'a call by MPP', channel: 'a call by voucher' },
}
const say = (text: string) => process.stderr.write(`${text}\n`)
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const usedBy = async (server: Child): Promise<Used> => ({
  node: await server.ask<number>('cpu'),
  database: await server.ask<number>('database_cpu'),
  logBytes: await server.ask<number>('log_bytes'),
  atMs: performance.now(),
})

async function openSide(kind: Kind, home: string, addresses: readonly string[], load: Child, before: readonly Side[]) {
  const accepted = (before.find((side) => side.kind === 'channel')?.plan as { terms: { accepted: object } } | undefined)
    ?.terms.accepted
  const server =
    kind === 'stock channel'
      ? await startChild('ways-to-pay/stock-side.ts', { ASSAY_HOME: home, ACCEPTED: JSON.stringify(accepted) })
      : await startChild('ways-to-pay/side.ts', { ASSAY_HOME: home })
  try {
    return { kind, server, ...(await prepareSide(kind, server, addresses, load)), idle: nothing } satisfies Side
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function prepareSide(kind: Kind, server: Child, addresses: readonly string[], load: Child) {
  const port = await server.ask<number>('port')
  const host = `127.0.0.1:${port}`
  if (kind === 'credit') await server.ask('credit', addresses)
  if (kind === 'subscriber') await server.ask('subscribe', addresses)
  const target = targetOf(kind)
  const terms = await termsOf(host, kind)
  const plan = { kind, host, target, count: perRound, wallets, terms } as unknown as CreditPlan
  if (isChannel(kind)) await server.ask('channels', await load.ask('channels', { terms, wallets }))
  return { port, plan }
}

type Asked = {
  /** How long a caller waited for each answer. */
  wallMicros: number
  /** What the node did while callers signed: some ask it for a challenge first, and that is not counted. */
  signing: { node: number; database: number }
}

async function ask(side: Side, load: Child, count: number, at = connections): Promise<Asked> {
  const before = await usedBy(side.server)
  await load.ask('sign', { ...side.plan, count })
  const signed = await usedBy(side.server)
  const idleSeconds = (signed.atMs - before.atMs) / 1_000
  const signing = {
    node: signed.node - before.node - side.idle.node * idleSeconds,
    database: signed.database - before.database - side.idle.database * idleSeconds,
  }
  const result = await load.ask<LoadResult>('run', { port: side.port, connections: at, secondsMax: 60 })
  const wrong = Object.keys(result.statuses).filter((status) => status !== '200')
  if (wrong.length > 0 || result.requests !== count)
    throw new Error(`${side.kind}: ${JSON.stringify(result.statuses)} ${result.sample.slice(0, 900)}`)
  return { wallMicros: (result.seconds * 1e6 * at) / count, signing: asksFirst.has(side.kind) ? signing : nothing }
}

/** What a node that has sold nothing yet, and its database, use in a second. Our nodes are alike, so one figure stands for all of them. */
async function measureIdle(sides: readonly Side[]): Promise<void> {
  await pause(idleMs / 3)
  const before = await Promise.all(sides.map(({ server }) => usedBy(server)))
  await pause(idleMs)
  const after = await Promise.all(sides.map(({ server }) => usedBy(server)))
  const idleOf = (index: number) => {
    const [was, is] = [before[index] as Used, after[index] as Used]
    const seconds = (is.atMs - was.atMs) / 1_000
    return { node: (is.node - was.node) / seconds, database: (is.database - was.database) / seconds }
  }
  const nodes = sides.flatMap(({ kind }, index) => (kind === 'stock channel' ? [] : [idleOf(index)]))
  const idle = { node: median(nodes.map(({ node }) => node)), database: median(nodes.map(({ database }) => database)) }
  for (const [index, side] of sides.entries()) side.idle = side.kind === 'stock channel' ? idleOf(index) : idle
  say(`idle: node ${Math.round(idle.node)}, database ${Math.round(idle.database)} µs a second`)
}

/** One turn of all sides. Each is counted over the whole of it, so with what it does later for its own calls. */
async function turn(sides: readonly Side[], load: Child): Promise<Figures[]> {
  const before = await Promise.all(sides.map(({ server }) => usedBy(server)))
  const asked: Asked[] = []
  for (const side of sides) asked.push(await ask(side, load, countOf(side.kind, perRound)))
  await pause(deferredMs)
  const after = await Promise.all(sides.map(({ server }) => usedBy(server)))
  return sides.map(({ kind, idle }, index) => {
    const count = countOf(kind, perRound)
    const [was, is] = [before[index] as Used, after[index] as Used]
    const seconds = (is.atMs - was.atMs) / 1_000
    const { wallMicros, signing } = asked[index] as Asked
    const databaseMicros = (is.database - was.database - signing.database - idle.database * seconds) / count
    const nodeMicros = (is.node - was.node - signing.node - idle.node * seconds) / count
    const logBytes = (is.logBytes - was.logBytes) / count
    return { cpuMicros: nodeMicros + databaseMicros, databaseMicros, wallMicros, logBytes }
  })
}

const schemeOf: Partial<Record<Kind, string>> = { channel: 'batch-settlement', upto: 'upto' }

async function termsOf(host: string, kind: Kind): Promise<never> {
  const challenge = await fetch(`http://${host}${targetOf(kind)}`)
  const required = JSON.parse(Buffer.from(challenge.headers.get('payment-required') ?? '', 'base64').toString())
  const [first] = required.accepts
  const named = required.accepts.find(({ scheme }: { scheme: string }) => scheme === schemeOf[kind]) ?? first
  const accepted = kind === 'permit2' ? { ...first, extra: { ...first.extra, assetTransferMethod: 'permit2' } } : named
  return { resourceUrl: required.resource.url, accepted } as never
}

async function measureCosts(folderOf: (name: string) => Promise<string>) {
  const load = await startChild('ways-to-pay/load.ts')
  const sides: Side[] = []
  try {
    const addresses = await load.ask<string[]>('wallets', wallets)
    for (const kind of kinds)
      sides.push(await openSide(kind, await folderOf(kind.replace(' ', '-')), addresses, load, sides))
    say('measuring idle nodes')
    await measureIdle(sides)
    for (const side of sides) {
      say(`warming up: ${side.kind}`)
      for (let lap = 0; lap < warmLaps; lap += 1) await ask(side, load, countOf(side.kind, 3_000))
    }
    say('measuring')
    // The first turns only start what later ones find under way: work that is done half a minute after its call.
    for (let lap = 0; lap < 2; lap += 1) await turn(sides, load)
    const turns: Figures[][] = []
    for (let round = 0; round < rounds; round += 1) turns.push(await turn(sides, load))
    const by = Object.fromEntries(kinds.map((kind, index) => [kind, turns.map((one) => one[index] as Figures)]))
    say('one at a time')
    return {
      by: by as Record<Kind, Figures[]>,
      aloneWallMicros: (await ask(sides[0] as Side, load, 40, 1)).wallMicros,
    }
  } finally {
    await load.stop()
    for (const { server } of sides) await server.stop()
  }
}

/** Wall time of one call at a time, each settled on a chain with a block every two seconds. */
async function measureSettled(home: string): Promise<{ blocksEvery2s: number; blocksAtOnce: number }> {
  const server = await startChild('ways-to-pay/settled-side.ts', { ASSAY_HOME: home })
  const load = await startChild('ways-to-pay/load.ts')
  try {
    const port = await server.ask<number>('port')
    const host = `127.0.0.1:${port}`
    await server.ask('fund', 10)
    const wall = async (count: number) => {
      const plan = {
        kind: 'exact',
        host,
        target: targetOf('exact'),
        count,
        wallets: 10,
        terms: await termsOf(host, 'exact'),
      }
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

const home = await temporaryHome()
const folder = async (name: string) => {
  await mkdir(join(home, name))
  return join(home, name)
}
try {
  const { by, aloneWallMicros } = await measureCosts(folder)
  const settled = await measureSettled(await folder('settled'))
  const of = (kind: Kind, figure: keyof Figures) => by[kind].map((one) => one[figure])
  const middle = (kind: Kind, figure: keyof Figures) => Math.round(median(of(kind, figure)))
  const all = (figure: keyof Figures) => Object.fromEntries(kinds.map((kind) => [kind, middle(kind, figure)]))
  const cpuBeside = (kind: Kind, peer: Kind) => ratioOf(of(kind, 'cpuMicros'), of(peer, 'cpuMicros'))
  // A subscriber's challenge costs its own request, which is not counted here.
  const besideSubscriber = cpuBeside('credit', 'subscriber')
  const besideExact = cpuBeside('credit', 'exact')
  const channelBesideExact = cpuBeside('channel', 'exact')
  const stockBesideChannel = cpuBeside('stock channel', 'channel')
  const timesLessWall = settled.blocksEvery2s / aloneWallMicros
  process.stdout.write(
    `${JSON.stringify(
      {
        ...{ calls_per_round: perRound, connections },
        cpu_micros: all('cpuMicros'),
        of_these_the_database: all('databaseMicros'),
        log_bytes: all('logBytes'),
        wall_micros: all('wallMicros'),
        beside_subscriber: { cpu: besideSubscriber, required: 'cpu at most 1.5' },
        beside_exact: { cpu: besideExact, required: 'cpu at most 0.6' },
        stock_channel_beside_channel: { cpu: stockBesideChannel },
        channel_beside_exact: { cpu: channelBesideExact, required: 'cpu at most 0.75' },
        beside_settled: {
          credit_wall_micros: Math.round(aloneWallMicros),
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
  reportFigures(
    {
      figure: "a call from credit beside a subscriber's, CPU",
      asked: 'at most 1.5 x',
      measured: `${two(besideSubscriber.median)} x`,
      reached: besideSubscriber.median <= 1.5,
      peer: 'subscription with wallet proof',
      ratio: two(besideSubscriber.median),
    },
    {
      figure: 'the same beside an exact call, settlement stubbed, CPU',
      asked: 'at most 0.6 x',
      measured: `${two(besideExact.median)} x`,
      reached: besideExact.median <= 0.6,
      peer: 'exact payment',
      ratio: two(besideExact.median),
    },
    {
      figure: 'a call by voucher beside an exact call, settlement stubbed, CPU',
      asked: 'at most 0.75 x',
      measured: `${two(channelBesideExact.median)} x`,
      reached: channelBesideExact.median <= 0.75,
      peer: 'exact payment',
      ratio: two(channelBesideExact.median),
    },
    {
      figure: 'a call by voucher at the stock server with its own storage (files), CPU beside ours',
      asked: null,
      measured: `${two(stockBesideChannel.median)} x`,
      reached: null,
      peer: '@x402/hono, @x402/evm 2.27.0',
      ratio: two(stockBesideChannel.median),
    },
    {
      figure: 'a call from credit beside a call settled on chain (a block every 2 s), time',
      asked: '20 times less',
      measured: `${two(timesLessWall)} times less`,
      reached: timesLessWall >= 20,
      peer: 'exact payment on chain',
      ratio: two(timesLessWall),
    },
    ...(['permit2', 'upto', 'mpp'] as const).map((kind) => ({
      figure: `${titles[kind]} beside an exact call, settlement stubbed, CPU`,
      asked: null,
      measured: `${two(cpuBeside(kind, 'exact').median)} x`,
      reached: null,
      peer: 'exact payment',
      ratio: two(cpuBeside(kind, 'exact').median),
    })),
    ...(['credit', 'exact', 'permit2', 'upto', 'mpp', 'channel'] as const).map((kind) => ({
      figure: `${titles[kind]}, with what is done for it later`,
      asked: null,
      measured: `CPU: node ${middle(kind, 'cpuMicros') - middle(kind, 'databaseMicros')}, database ${middle(kind, 'databaseMicros')} µs; log of the database ${middle(kind, 'logBytes')} bytes`,
      reached: null,
    })),
  )
  const reached =
    channelBesideExact.median <= 0.75 &&
    besideSubscriber.median <= 1.5 &&
    besideExact.median <= 0.6 &&
    timesLessWall >= 20
  process.exitCode = reached ? 0 : 1
} finally {
  await rm(home, { recursive: true, force: true })
}
