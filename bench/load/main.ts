// npm run load: mixed traffic of all shops on a whole node, closed and open loop, then several times what it can do.
// Exit code 1 when an answer is wrong, a refusal is unclean, a paid request is lost, or memory grows in a soak.
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { startChain } from '../../test/harness/start-chain.ts'
import { type Child, startChild } from '../process/child.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import { untilQuiet } from '../process/until-quiet.ts'
import { reportFigures } from '../report-figures.ts'
import { growthPerHour, type Sample } from './memory.ts'
import type { KindResult, Outcome } from './tally.ts'
import type { Facts } from './traffic.ts'

const usage = `npm run load [-- --quick] [-- --soak 15m] [-- --over 4]
  --soak <time>  holds half of the capacity for so long (90s, 15m, 2h) and checks whether memory stays flat
  --over <n>     how many times the capacity is offered at last (4)
  --profile <f>  writes a CPU profile of the node into this folder
  --quick        a few seconds of each, to see that everything works
  --promise      ends with 1 only when a promise is broken; a missed speed is printed
`
const say = (text: string) => process.stderr.write(`${text}\n`)
const print = (text: string) => process.stdout.write(`${text}\n`)
const n = (value: number, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits })

const ports = { clock: systemClock, log: silentLog }

type Usage = { cpu: number; database: number; rss: number; heap: number }
/** As they are printed and handed out. */
type Spent = { cpu: string; memory: string }
/** Faults break a promise; misses say that the node, or the machine, was slower than it seemed. */
type Stage = { server: Child; load: Child; faults: string[]; misses: string[] }

export async function runLoadProof(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      promise: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      soak: { type: 'string' },
      over: { type: 'string', default: '4' },
      profile: { type: 'string' },
    },
  })
  const soakSeconds = values.soak === undefined ? 0 : secondsOf(values.soak)
  if (values.help || Number.isNaN(soakSeconds)) {
    process.stderr.write(usage)
    return values.help ? 0 : 2
  }
  const home = await temporaryHome('assay-load-')
  const children: Child[] = []
  const chains: Devnet[] = []
  try {
    say('starting a node with every shop ...')
    const profile = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(values.profile)}`]
    // The chains run here: in production they are somebody else's work, too.
    chains.push(...(await Promise.all([8453, 137].map((chainId) => startChain({ chainId, port: 0, ...ports })))))
    const [base, polygon] = chains.map(({ url }) => url ?? '')
    const env = { ASSAY_HOME: home, BASE_RPC_URLS: base ?? '', POLYGON_RPC_URLS: polygon ?? '' }
    const server = await startChild('load/mixed-node.ts', env, ['--expose-gc', ...profile])
    children.push(server)
    const load = await startChild('load/mixed-load.ts')
    children.push(load)
    const stage: Stage = { server, load, faults: [], misses: [] }
    await prepare(stage)
    const span = values.quick ? 3 : 12
    const capacity = await closed(stage, span)
    if (soakSeconds > 0) await soak(stage, capacity / 2, soakSeconds)
    else await open(stage, capacity / 2, span)
    await overload(stage, capacity * Number(values.over), values.quick ? 6 : 10)
    for (const fault of [...stage.faults, ...stage.misses]) print(`  ! ${fault}`)
    const failed = stage.faults.length > 0 || (stage.misses.length > 0 && !values.promise)
    print(failed ? 'FAILED' : 'all as promised')
    return failed ? 1 : 0
  } finally {
    await Promise.all(children.map((child) => child.stop()))
    await Promise.all(chains.map((chain) => chain.stop()))
    await rm(home, { recursive: true, force: true })
  }
}

function secondsOf(text: string): number {
  const [, count, unit = 's'] = /^(\d+)([smh]?)$/.exec(text) ?? []
  return Number(count) * ({ s: 1, m: 60, h: 3_600 }[unit] ?? 1)
}

async function prepare({ server, load }: Stage): Promise<void> {
  const port = await server.ask<number>('port')
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).json()
  const until = async <T>(look: () => Promise<T[]>): Promise<T[]> => {
    for (let tries = 0; tries < 300; tries += 1) {
      const found = await look()
      if (found.length > 0) return found
      await sleep(200)
    }
    throw new Error('the demo data did not come')
  }
  type Index = { demo: { tokens: { address: string; what: string }[] } }
  const tokens: string[] = []
  for (const { address } of ((await read('/')) as Index).demo.tokens) {
    // One of the demo tokens cannot be read on purpose: nobody can buy a report of it.
    const { verdict } = (await read(`/v1/check/${address}`)) as { verdict?: string }
    if (verdict !== undefined && verdict !== 'UNKNOWN') tokens.push(address)
  }
  const pages = await until(() => server.ask<{ url: string; title: string }[]>('pages'))
  const facts: Facts = {
    port,
    pages: pages.map(({ url }) => url),
    queries: pages.map(({ title }) => title.slice(0, 60)),
    tokens,
    symbols: await server.ask<string[]>('series'),
  }
  await server.ask('credit', await load.ask('wallets'))
  await load.ask('open', facts)
  say('waiting until the node has settled down ...')
  await untilQuiet(server)
  say('warming up ...')
  await load.ask('closed', { connections: 32, seconds: 4 })
}

/** What node and database spent on each request, and how much memory the node has. */
async function measured(stage: Stage, work: () => Promise<Outcome>): Promise<{ outcome: Outcome; spent: Spent }> {
  const before = await stage.server.ask<Usage>('usage')
  const outcome = await work()
  const after = await stage.server.ask<Usage>('usage')
  const each = (now: number, then: number) => `${n((now - then) / Math.max(1, outcome.requests))} µs`
  const spent = {
    cpu: `node ${each(after.cpu, before.cpu)}, database ${each(after.database, before.database)}`,
    memory: `${n(after.rss / 1_048_576)} MB`,
  }
  print(`  CPU of a request: ${spent.cpu}; memory ${spent.memory}`)
  return { outcome, spent }
}

const lineOf = ({ kind, requests, good, p50, p90, p99, p999, max }: KindResult) =>
  `  ${kind.padEnd(16)} ${String(requests).padStart(7)} ${String(good).padStart(7)} ${[p50, p90, p99, p999, max].map((ms) => n(ms, 1).padStart(9)).join('')}`

function tableOf({ kinds, all }: Outcome): string {
  const head = `  ${'ms'.padEnd(16)} ${'asked'.padStart(7)} ${'good'.padStart(7)} ${['p50', 'p90', 'p99', 'p99.9', 'max'].map((name) => name.padStart(9)).join('')}`
  return [head, ...kinds.map(lineOf), lineOf(all)].join('\n')
}

async function closed(stage: Stage, seconds: number): Promise<number> {
  print(`closed loop, 48 connections, ${seconds} s`)
  const { outcome, spent } = await measured(stage, () =>
    stage.load.ask<Outcome>('closed', { connections: 48, seconds }),
  )
  const perSecond = outcome.all.good / outcome.seconds
  print(`${tableOf(outcome)}\n  ${n(perSecond)} requests/s, two fifths of them paid`)
  // As much as it can do: who does not pay may be asked to come back.
  stage.faults.push(...outcome.faults.map((fault) => `closed loop: ${fault}`))
  await checkPaid(stage, 'closed loop', outcome)
  const counted = { asked: null, reached: null }
  const rate = `${n(perSecond)}/s, p50 ${outcome.all.p50} ms, p99 ${outcome.all.p99} ms`
  reportFigures(
    { figure: 'mixed traffic of all shops, closed loop', measured: rate, ...counted },
    { figure: 'CPU of each of those requests', measured: spent.cpu, ...counted },
    { figure: 'resident memory of the node after them', measured: spent.memory, ...counted },
  )
  return perSecond
}

async function open(stage: Stage, perSecond: number, seconds: number): Promise<void> {
  print(`open loop, ${n(perSecond)}/s offered for ${seconds} s`)
  const plan = { perSecond, seconds, signBefore: false }
  const { outcome } = await measured(stage, () => stage.load.ask<Outcome>('offered', plan))
  tellOpen(outcome)
  await checkCalm(stage, 'open loop', outcome)
}

function tellOpen(outcome: Outcome): void {
  const { lateMs, connectionsMax, all } = outcome
  print(
    `${tableOf(outcome)}\n  generator late p99 ${n(lateMs.p99, 1)} ms, at most ${n(lateMs.max)} ms; ${connectionsMax} connections`,
  )
  reportFigures({
    figure: 'the same, open loop at half of that, time counted from when a request was due',
    asked: null,
    measured: `p50 ${all.p50}, p99 ${all.p99}, p99.9 ${all.p999} ms`,
    reached: null,
  })
}

const memoryGrowthMax = 32 * 1_048_576
/** Rarely: each sample is preceded by a collection. */
const samplingSeconds = 15

async function soak(stage: Stage, perSecond: number, seconds: number): Promise<void> {
  print(`soak, ${n(perSecond)}/s offered for ${n(seconds / 60, 1)} min`)
  const samples: Sample[] = []
  let done = false
  const watching = (async () => {
    while (!done) {
      const { rss, heap } = await stage.server.ask<Usage>('usage', true)
      samples.push({ atMs: performance.now(), rss, heap })
      for (let second = 0; second < samplingSeconds && !done; second += 1) await sleep(1_000)
    }
  })()
  const plan = { perSecond, seconds, signBefore: false }
  const { outcome } = await measured(stage, () => stage.load.ask<Outcome>('offered', plan))
  done = true
  await watching
  tellOpen(outcome)
  await checkCalm(stage, 'soak', outcome)
  // Growth of an hour, but a short run cannot say so much: what is checked is what was gained within the second half.
  const gained = (of: 'rss' | 'heap') => (growthPerHour(samples, of) * (seconds / 2)) / 3_600
  const [heap, rss] = [gained('heap'), gained('rss')]
  const text = `heap ${n(heap / 1_048_576, 1)} MB, resident ${n(rss / 1_048_576, 1)} MB gained in the second half`
  const flat = heap < memoryGrowthMax && rss < 2 * memoryGrowthMax
  print(`  ${text} (asked: below 32 and 64 MB): ${flat ? 'flat' : 'GROWS'}`)
  if (!flat) stage.faults.push(`memory grows: ${text}`)
  reportFigures({
    figure: `memory in a soak of ${n(seconds / 60, 1)} minutes`,
    asked: 'flat',
    measured: text,
    reached: flat,
  })
}

/** Below its capacity a node refuses nobody; but what the capacity is depends on what else the machine does. */
async function checkCalm(stage: Stage, name: string, outcome: Outcome): Promise<void> {
  if (outcome.all.good !== outcome.requests)
    stage.misses.push(`${name}: ${outcome.requests - outcome.all.good} of ${outcome.requests} not answered as asked`)
  stage.misses.push(...outcome.refused.map((refusal) => `${name}: ${refusal}`))
  stage.faults.push(...outcome.faults.map((fault) => `${name}: ${fault}`))
  await checkPaid(stage, name, outcome)
}

/**
 * Answered from memory while a copy of the answer is fresh, before anybody asks whether there is room: that costs next to
 * nothing, so more of these get through than of what needs work, and counted in they would hide who was shed first. The
 * others are asked to come back like everyone else, in an overload half of them or more.
 */
const sharedKinds = new Set(['402', 'matrix delayed'])

type Answered = { share: number; of: number }

function answeredOf({ kinds }: Outcome, paying: boolean): Answered {
  const asked = kinds.filter((kind) => kind.paying === paying && !sharedKinds.has(kind.kind))
  const sum = (field: 'good' | 'requests') => asked.reduce((all, kind) => all + kind[field], 0)
  return { share: sum('good') / sum('requests'), of: sum('requests') }
}

/** Standard error of the difference of two shares: a few hundred requests are as often above as below the truth. */
function errorOf(one: Answered, other: Answered): number {
  const both = (one.share * one.of + other.share * other.of) / (one.of + other.of)
  return Math.sqrt(both * (1 - both) * (1 / one.of + 1 / other.of))
}

async function overload(stage: Stage, perSecond: number, seconds: number): Promise<void> {
  print(`overload, ${n(perSecond)}/s offered for ${seconds} s`)
  const plan = { perSecond, seconds, signBefore: true }
  const { outcome } = await measured(stage, () => stage.load.ask<Outcome>('offered', plan))
  const paid = answeredOf(outcome, true)
  const free = answeredOf(outcome, false)
  print(tableOf(outcome))
  print(
    `  offered ${n(outcome.requests / outcome.seconds)}/s over ${outcome.connectionsMax} connections, answers ${JSON.stringify(outcome.statuses)}`,
  )
  const kept = `${n(paid.share * 100)} % of paid and ${n(free.share * 100)} % of free requests that need work answered`
  print(`  ${kept}; ${outcome.broken} connections broken; generator late p99 ${n(outcome.lateMs.p99)} ms`)
  const faults = [...outcome.faults.map((fault) => `overload: ${fault}`)]
  if (outcome.broken > 0)
    faults.push(`overload: ${outcome.broken} connections broke instead of being asked to come back`)
  if (free.share - paid.share > 3 * errorOf(paid, free))
    faults.push(`overload: paid requests were shed before free ones: ${kept}`)
  stage.faults.push(...faults)
  await checkPaid(stage, 'overload', outcome)
  await checkAfter(stage)
  reportFigures({
    figure: 'overload is shed with 429 or 503 and Retry-After, paid requests last, none lost',
    asked: 'clean',
    measured: kept,
    reached: stage.faults.length === 0,
  })
}

const untouched = new Set(['released', 'failed'])

/** Every buyer with an answer has paid for it, and no buyer without one has paid. */
async function checkPaid(stage: Stage, name: string, { paid }: Outcome): Promise<void> {
  const states = new Map<string, string>()
  for (let at = 0; at < paid.length; at += 2_000) {
    const nonces = paid.slice(at, at + 2_000).map(({ nonce }) => nonce)
    for (const row of await stage.server.ask<{ nonce: string; state: string }[]>('payments', nonces))
      states.set(row.nonce, row.state)
  }
  const wrong = paid.filter(({ nonce, status }) => {
    const state = states.get(nonce)
    return status === 200 ? state !== 'served' : state !== undefined && !untouched.has(state)
  })
  print(
    `  ${paid.length} payments: ${paid.filter(({ status }) => status === 200).length} answered and charged, ${wrong.length} lost`,
  )
  for (const { nonce, status } of wrong.slice(0, 5))
    stage.faults.push(
      `${name}: a payment was answered with ${status} and is ${states.get(nonce) ?? 'unknown to the books'}`,
    )
}

/** When the flood is over the node serves as before. */
async function checkAfter(stage: Stage): Promise<void> {
  await sleep(1_000)
  const outcome = await stage.load.ask<Outcome>('closed', { connections: 8, seconds: 2 })
  print(`  afterwards: ${outcome.all.good} of ${outcome.requests} answered, p99 ${n(outcome.all.p99, 1)} ms`)
  if (outcome.all.good !== outcome.requests) stage.faults.push('the node did not recover after the overload')
}
