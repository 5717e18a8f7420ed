import { cpus } from 'node:os'
import { faultsInBooks } from '../../test/harness/books.ts'
import { type Child, startChild } from '../process/child.ts'
import { openDatabaseCpu } from '../process/database-cpu.ts'
import { reportFigures } from '../report-figures.ts'
import { openCaller } from './call.ts'
import type { Cluster } from './cluster.ts'
import { paidPath, readTerms } from './terms.ts'
import type { Verdict } from './verdict.ts'
import { watchSessions } from './waits.ts'

type Step = {
  processes: number
  perSecond: number
  /** Cores in use on average: by the nodes, the database and the clients. */
  cores: { node: number; database: number; client: number }
  micros: { node: number; database: number; client: number }
  /** Bytes of the database's log for one purchase. */
  walBytes: number
  /** Cores that programs of no concern to us took meanwhile. */
  others: number
  working: number
  waits: [string, number][]
  statuses: Record<string, number>
}

const connections = 200
type Ran = { statuses: Record<string, number>; seconds: number; cpuMicros: number }

/** Purchases a second with settlement stubbed, so that nodes and database are what is measured. */
export async function measureThroughput(
  cluster: Cluster,
  counts: readonly number[],
  purchases: number,
  say: (text: string) => void,
): Promise<Verdict> {
  const load = await startChild('scale/load-process.ts')
  const nodes: Child[] = []
  const steps: Step[] = []
  try {
    for (const count of counts) {
      while (nodes.length < count) nodes.push(await startChild('scale/stubbed-process.ts', cluster.env(0)))
      // Once to warm the code and the statements of the new processes, once to count.
      await runStep(cluster, load, nodes, Math.ceil(purchases / 3))
      const step = await runStep(cluster, load, nodes, purchases)
      steps.push(step)
      say(`  ${lineOf(step)}`)
    }
    const faults = steps.flatMap(({ processes, statuses }) =>
      Object.entries(statuses)
        .filter(([status]) => status !== '200')
        .map(([status, times]) => `${processes} processes: ${times} x ${status}`),
    )
    faults.push(...(await faultsInBooks(cluster.owner)))
    return verdictOf(steps, faults)
  } finally {
    await Promise.all([...nodes, load].map((child) => child.stop()))
  }
}

async function runStep(cluster: Cluster, load: Child, nodes: readonly Child[], purchases: number): Promise<Step> {
  const ports = await Promise.all(nodes.map((node) => node.ask<number>('port')))
  const caller = openCaller(4)
  const terms = await readTerms(caller, ports[0] ?? 0).finally(() => caller.close())
  const count = Math.ceil(purchases / nodes.length)
  const plan = (port: number) => ({ kind: 'paid', host: `127.0.0.1:${port}`, target: paidPath, count, terms })
  await load.ask(
    'prepare',
    ports.map((port) => ({ port, plan: plan(port) })),
  )
  const database = await openDatabaseCpu(cluster.databaseUrl)
  const nodeCpu = async () =>
    (await Promise.all(nodes.map((node) => node.ask<number>('cpu')))).reduce((sum, micros) => sum + micros, 0)
  try {
    const [nodesBefore, databaseBefore, busyBefore] = [await nodeCpu(), database.micros(), busyMs()]
    const walBefore = await walBytes(cluster)
    const stopWatching = watchSessions(cluster.owner)
    const ran = await load.ask<Ran>('go', { connections: Math.ceil(connections / nodes.length) })
    const busySeconds = (busyMs() - busyBefore) / 1000
    const { running, waits } = await stopWatching()
    const spent = {
      node: (await nodeCpu()) - nodesBefore,
      database: database.micros() - databaseBefore,
      client: ran.cpuMicros,
    }
    const done = Object.values(ran.statuses).reduce((sum, times) => sum + times, 0)
    const each = (per: number) => ({
      node: spent.node / per,
      database: spent.database / per,
      client: spent.client / per,
    })
    return {
      processes: nodes.length,
      perSecond: done / ran.seconds,
      cores: each(ran.seconds * 1e6),
      micros: each(done),
      walBytes: ((await walBytes(cluster)) - walBefore) / done,
      others: Math.max(0, (busySeconds - (spent.node + spent.database + spent.client) / 1e6) / ran.seconds),
      working: running,
      waits,
      statuses: ran.statuses,
    }
  } finally {
    await database.close()
  }
}

/** CPU time of all cores together, since the machine started. */
const busyMs = () => cpus().reduce((sum, { times }) => sum + times.user + times.sys + times.nice + times.irq, 0)

async function walBytes({ owner }: Cluster): Promise<number> {
  const { rows } = await owner.query<{ bytes: string }>(`select pg_current_wal_lsn() - '0/0' as bytes`)
  return Number(rows[0]?.bytes)
}

const n = (value: number) => Math.round(value).toLocaleString('en-US')

function lineOf({ processes, perSecond, cores, micros, walBytes: log, working, waits }: Step): string {
  const used = `${cores.node.toFixed(2)} node + ${cores.database.toFixed(2)} database + ${cores.client.toFixed(2)} clients`
  const each = `${n(micros.node)} + ${n(micros.database)} + ${n(micros.client)} µs and ${n(log)} bytes of log each`
  const [wait] = waits
  const waiting = wait ? `, most waited for ${wait[0]} (${wait[1].toFixed(1)})` : ''
  return `${processes} processes: ${n(perSecond)}/s; cores ${used} (${each}); sessions working ${working.toFixed(1)}${waiting}`
}

/** Says what bound the last step, and from the CPU of each part where the database would be the limit. */
function verdictOf(steps: readonly Step[], faults: readonly string[]): Verdict {
  const total = cpus().length
  const best = steps.reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
  const last = steps.at(-1) as Step
  const used = last.cores.node + last.cores.database + last.cores.client
  const cores = `${used.toFixed(2)} of ${total} in use by nodes, database and clients, ${last.others.toFixed(2)} by other programs`
  const bound =
    used + last.others > 0.85 * total
      ? `the cores of this machine: ${cores}`
      : `waiting, mostly for ${last.waits[0]?.[0] ?? 'nothing in particular'}: ${cores}`
  const perDatabaseCore = 1e6 / best.micros.database
  const notes = [
    ...steps.map(lineOf),
    `bound by ${bound}`,
    `a core of the database carries ${n(perDatabaseCore)} purchases/s, a core of the node ${n(1e6 / best.micros.node)}/s: the database is the limit from ${(best.micros.node / best.micros.database).toFixed(1)} full node cores for each database core`,
  ]
  for (const step of steps)
    reportFigures({
      figure: `purchases a second, ${step.processes} processes, settlement stubbed`,
      asked: null,
      measured: `${n(step.perSecond)}/s; CPU each: node ${n(step.micros.node)}, database ${n(step.micros.database)} µs; ${n(step.walBytes)} bytes of log`,
      reached: null,
    })
  return {
    name: 'throughput with more processes',
    asked: 'all answered',
    measured: steps.map(({ processes, perSecond }) => `${processes}: ${n(perSecond)}/s`).join(', '),
    notes,
    faults,
  }
}
