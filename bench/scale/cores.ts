import { availableParallelism } from 'node:os'
import { countWorkers } from '../../packages/node/src/config/processes.ts'
import { faultsInBooks } from '../../test/harness/books.ts'
import { type Child, startChild } from '../process/child.ts'
import { treeCpuMicros } from '../process/database-cpu.ts'
import { reportFigures } from '../report-figures.ts'
import { openCaller } from './call.ts'
import type { Cluster } from './cluster.ts'
import { createNodeProcess, type NodeProcess } from './node-process.ts'
import { paidPath, readTerms } from './terms.ts'
import type { Verdict } from './verdict.ts'

type Ran = { statuses: Record<string, number>; seconds: number; cpuMicros: number }
type Round = { perSecond: number; micros: number; statuses: Record<string, number> }

const connections = 64
const rounds = 3
const distinctPath = '/v1/sandbox/echo?message={n}'
const kinds = ['unpaid', 'paid'] as const

/** Both run at once and are asked in turn, so that what else the machine does falls on both alike. */
export async function compareWithWorkers(
  cluster: Cluster,
  purchases: number,
  say: (text: string) => void,
): Promise<Verdict> {
  const processes = countWorkers(availableParallelism(), cluster.databaseUrl)
  const alone = await createNodeProcess(cluster)
  const several = await createNodeProcess(cluster, { PROCESSES: 'auto' })
  const load = await startChild('scale/load-process.ts')
  const caller = openCaller(4)
  const faults: string[] = []
  const notes: string[] = []
  try {
    for (const node of [alone, several]) await node.start()
    const terms = await readTerms(caller, alone.port)
    for (const kind of kinds) {
      const seen = new Map<NodeProcess, Round[]>([alone, several].map((node) => [node, []]))
      // The first round warms up.
      for (let round = 0; round <= rounds; round += 1)
        for (const node of [alone, several]) {
          const host = `127.0.0.1:${node.port}`
          const plan =
            kind === 'paid'
              ? { kind, host, target: paidPath, count: purchases, terms }
              : { kind: 'distinct', host, target: distinctPath }
          const ran = await runRound(load, node, plan)
          if (round > 0) seen.get(node)?.push(ran)
          const wanted = kind === 'paid' ? '200' : '402'
          for (const [status, times] of Object.entries(ran.statuses))
            if (status !== wanted) faults.push(`${kind}, ${node === alone ? 1 : processes}: ${times} x ${status}`)
        }
      notes.push(noteOf(kind, processes, middle(seen.get(alone)), middle(seen.get(several))))
      say(`  ${notes.at(-1)}`)
    }
    faults.push(...(await faultsInBooks(cluster.owner)))
  } finally {
    caller.close()
    await load.stop()
    await Promise.all([alone, several].map((node) => node.end('SIGTERM')))
  }
  return { name: 'one process beside PROCESSES=auto', asked: 'all answered', measured: notes.join('; '), faults }
}

async function runRound(load: Child, node: NodeProcess, plan: unknown): Promise<Round> {
  await load.ask('prepare', [{ port: node.port, plan }])
  const before = treeCpuMicros(node.pid ?? 0)
  const { statuses, seconds } = await load.ask<Ran>('go', { connections, secondsMax: 4 })
  const count = Object.values(statuses).reduce((sum, times) => sum + times, 0)
  return { perSecond: count / seconds, micros: (treeCpuMicros(node.pid ?? 0) - before) / count, statuses }
}

const middle = (all: readonly Round[] = []): Round =>
  [...all].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(all.length / 2)] as Round

function noteOf(kind: (typeof kinds)[number], processes: number, one: Round, many: Round): string {
  const n = (value: number) => Math.round(value).toLocaleString('en-US')
  const ratio = many.perSecond / one.perSecond
  reportFigures({
    figure: `${kind} requests, PROCESSES=auto (workers: ${processes}) beside one process`,
    asked: '>= 1.00, and 0.05 less is noise',
    measured: `${ratio.toFixed(2)} (${n(many.perSecond)} and ${n(one.perSecond)}/s; CPU of the node ${n(many.micros)} and ${n(one.micros)} µs)`,
    reached: ratio >= 0.95,
  })
  const each = `CPU ${n(one.micros)} and ${n(many.micros)} µs each`
  return `${kind}: 1 process ${n(one.perSecond)}/s, auto (workers: ${processes}) ${n(many.perSecond)}/s, ratio ${ratio.toFixed(2)}; ${each}`
}
