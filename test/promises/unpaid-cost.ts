import { exchange } from '../../bench/load/exchange.ts'
import { requestText } from '../../bench/load/requests.ts'
import { percentiles } from '../../bench/percentiles.ts'
import { type Child, startChild } from '../../bench/process/child.ts'
import type { FixedAnswer } from '../../bench/sides/bare.ts'
import { type Offered, offer } from './open-loop.ts'
import { createFaults, type Proof, plain } from './proof.ts'

const perSecond = 2_000
const rounds = 5
const p99MsMax = 20
/** How much longer, and how much more CPU, than a server that only writes the same bytes. */
const timesBareMax = 3
const cpuTimesBareMax = 4

type Outside = { rpc: number; facilitator: number; database: number; prepared: number }
/** One round of the node and, right after it, one of the bare server. */
export type Round = { p99: number; bareP99: number; cpu: number; bareCpu: number }
type Side = { child: Child; port: number; cpu(): Promise<number> }

/**
 * Unpaid work is cheap: 2,000 requests a second for a price, open loop, one process, beside a bare server that writes the
 * same bytes; `count` is requests to the node.
 */
export const proveUnpaidCost: Proof = async ({ count, say }) => {
  const children = [await startChild('../test/promises/counted-node.ts'), await startChild('sides/bare.ts')]
  try {
    const [node, bare] = await Promise.all(
      children.map(async (child): Promise<Side> => ({ child, port: await child.ask('port'), cpu: () => cpuOf(child) })),
    )
    return await measure(node as Side, bare as Side, count, say)
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}

const cpuOf = async (child: Child) => child.ask<number>('cpu')

/** Half ask for the same thing, half for something else, one in fifty with a payment that is none. */
function requestAt(port: number, index: number): Buffer {
  const query = index % 2 === 0 ? 'message=same' : `message=m${index}`
  const bad = index % 50 === 1 ? `PAYMENT-SIGNATURE: bm90IGEgcGF5bWVudA${index % 10}\r\n` : ''
  return Buffer.from(`GET /v1/sandbox/echo?${query} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${bad}\r\n`)
}

const ofConnection = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding'])

async function copyToBare(node: Side, bare: Side): Promise<void> {
  const ours = await exchange(node.port, requestText(`127.0.0.1:${node.port}`, '/v1/sandbox/echo?message=same'))
  const headers = ours.headers.filter(([name]) => !ofConnection.has(name.toLowerCase())).flat()
  await bare.child.ask('give', { status: ours.status, headers, body: ours.body } satisfies FixedAnswer)
}

async function measure(node: Side, bare: Side, count: number, say: (text: string) => void) {
  const faults = createFaults()
  await copyToBare(node, bare)
  const seconds = count / perSecond / rounds
  const load = async (side: Side, plan: { perSecond: number; seconds: number }) => {
    const before = await side.cpu()
    const offered = await offer(side.port, { ...plan, request: (index) => requestAt(side.port, index) })
    const cpu = ((await side.cpu()) - before) / (plan.perSecond * plan.seconds)
    return { offered, p99: percentiles(offered.latenciesMs)(0.99), cpu }
  }
  say('  warming up ...')
  for (const side of [node, bare]) await load(side, { perSecond: 1_000, seconds: 4 })
  const before = await node.child.ask<Outside>('outside')
  const measured: Round[] = []
  const all: Offered[] = []
  for (let round = 1; round <= rounds; round += 1) {
    say(
      `  round ${round} of ${rounds}: ${plain(perSecond)} a second for ${plain(seconds, 1)} s, then a bare server ...`,
    )
    const ours = await load(node, { perSecond, seconds })
    const theirs = await load(bare, { perSecond, seconds })
    all.push(ours.offered)
    measured.push({ p99: ours.p99, bareP99: theirs.p99, cpu: ours.cpu, bareCpu: theirs.cpu })
  }
  const after = await node.child.ask<Outside>('outside')
  for (const { statuses, broken } of all) {
    for (const [status, n] of statuses)
      if (status !== 402 && status !== 400) faults.note(`${n} were answered with ${status}`)
    if (broken > 0) faults.note(`${broken} connections broke`)
  }
  for (const what of ['rpc', 'facilitator', 'prepared'] as const)
    if (after[what] !== before[what]) faults.note(`${after[what] - before[what]} calls: ${what}`)
  for (const fault of decideRounds(measured)) faults.note(fault)
  const { p99, bareP99, cpu, bareCpu } = bestOf(measured)
  const worst = Math.max(...measured.map((round) => round.p99))
  const late = Math.max(...all.map(({ lateMs }) => lateMs))
  return {
    seen: `${plain(count)} at ${plain(perSecond)}/s in ${rounds} rounds: p99 ${plain(p99, 1)} ms in the best round (bare server ${plain(bareP99, 1)}), ${plain(worst, 1)} in the worst; CPU ${plain(cpu)} µs each (bare server ${plain(bareCpu)}); 0 calls to chain, facilitator or handlers, ${after.database - before.database} database statements in all; generator at most ${plain(late, 1)} ms late`,
    faults: faults.all(),
  }
}

/** The best round of each figure: a stall of the machine spoils a round, a node that is slow spoils all. */
function bestOf(measured: readonly Round[]): Round {
  const best = (of: (round: Round) => number) => Math.min(...measured.map(of))
  return {
    p99: best(({ p99 }) => p99),
    bareP99: best(({ bareP99 }) => bareP99),
    cpu: best(({ cpu }) => cpu),
    bareCpu: best(({ bareCpu }) => bareCpu),
  }
}

/** Below 20 ms, or, where the machine is so busy that a bare server is not much faster, a small multiple of that. */
export function decideRounds(measured: readonly Round[]): string[] {
  const { p99, bareP99, cpu, bareCpu } = bestOf(measured)
  const faults: string[] = []
  if (p99 >= Math.max(p99MsMax, timesBareMax * bareP99))
    faults.push(`p99 is ${plain(p99, 1)} ms in the best round, that of a bare server ${plain(bareP99, 1)} ms`)
  if (cpu >= cpuTimesBareMax * bareCpu)
    faults.push(`a request costs ${plain(cpu)} µs of CPU, that of a bare server ${plain(bareCpu)} µs`)
  return faults
}
