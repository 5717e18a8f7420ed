import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentiles } from '../percentiles.ts'
import { checkPurchases, keepBuying, type Purchase } from './buyers.ts'
import { openCaller } from './call.ts'
import { type Cluster, type ClusterOptions, openCluster } from './cluster.ts'
import { type FailoverDatabase, type Member, openFailoverDatabase } from './failover-database.ts'
import { howToInstall, installAll } from './install-if-absent.ts'
import { createNodeProcess, type NodeProcess } from './node-process.ts'
import { readTerms } from './terms.ts'
import type { Verdict } from './verdict.ts'

const name = 'the leader of the database fails under a node that sells'
const asked = '0 acknowledged payments lost, 0 doubled, sales back within 30 s'
const backWithinSeconds = 30
const givenUpAfterMs = 90_000
const pace = { everyMs: 400, askAgainAfterMs: 500 }

type Failure = { what: string; seconds: number | false }

/** Kills, cuts off and fills the leader of a Patroni cluster, while buyers pay at a node that knows one HAProxy address. */
export async function failOver(options: ClusterOptions, kills: number): Promise<Verdict> {
  const programs = await installAll(['etcd', 'patroni', 'haproxy'], options.install, options.say)
  if ('missing' in programs) return { name, asked, measured: 'left out', faults: [howToInstall(programs.missing)] }
  let database: FailoverDatabase | undefined
  const openDatabase = async (home: string) => {
    database = await openFailoverDatabase(home, programs.paths)
    return database
  }
  const cluster = await openCluster({ ...options, openDatabase })
  try {
    return await sellThrough(cluster, database as unknown as FailoverDatabase, kills, options)
  } finally {
    await cluster.close()
  }
}

async function sellThrough(
  cluster: Cluster,
  database: FailoverDatabase,
  kills: number,
  { payers, say }: ClusterOptions,
): Promise<Verdict> {
  const node = await createNodeProcess(cluster, { DATABASE_URL_REPLICA: database.replicaUrl })
  const caller = openCaller(256, 20_000)
  let stopBuying: (() => Promise<Purchase[]>) | undefined
  try {
    await node.start()
    const terms = await readTerms(caller, node.port)
    const sold: Purchase[] = []
    const onPurchase = (purchase: Purchase) => void (purchase.status === 200 && sold.push(purchase))
    stopBuying = keepBuying({ caller, terms, nodes: [node], payers }, pace, onPurchase)
    const failures: Failure[] = []
    for (const { what, strike } of [...strikes(kills, database)]) {
      await database.healthy()
      await firstSale(sold, performance.now())
      const leader = (await database.leader()) as Member
      const struckMs = performance.now()
      const repair = await strike(leader)
      await database.nextLeader(leader)
      say(`  ${what} (${leader.name}): another leader after ${Math.round((performance.now() - struckMs) / 100) / 10} s`)
      const seconds = (await firstSale(sold, performance.now())) && longestPause(sold, struckMs)
      await repair()
      failures.push({ what, seconds })
      say(`  ${what} (${leader.name}): sales back after ${shown(seconds)}`)
    }
    await database.healthy()
    const purchases = await stopBuying()
    stopBuying = undefined
    const faults = [...(await faultsAfter(cluster, node)), ...failures.flatMap(faultOf)]
    const outcome = await checkPurchases(cluster, terms, purchases, faults)
    return { name, asked, ...outcome, ...summary(failures, outcome, database) }
  } finally {
    await stopBuying?.()
    caller.close()
    await node.end('SIGTERM')
  }
}

type Strike = { what: string; strike(leader: Member): Promise<() => Promise<void>> }

function* strikes(kills: number, database: FailoverDatabase): Generator<Strike> {
  for (let count = 1; count <= kills; count += 1)
    yield {
      what: `kill ${count}`,
      strike: async (leader) => {
        await leader.kill()
        return async () => leader.start()
      },
    }
  yield {
    what: 'partition',
    strike: async (leader) => {
      leader.signal('SIGSTOP')
      return async () => leader.signal('SIGCONT')
    },
  }
  if (database.mounted)
    yield {
      what: 'full disk',
      strike: async (leader) => {
        const filler = join(leader.folder, 'filler')
        await writeFile(filler, Buffer.alloc(2 ** 30)).catch(() => {})
        // What is left in preallocated segments of the log is used up; the server ends when it needs a new one.
        for (let segments = 0; segments < 64; segments += 1)
          if (
            await database.admin('select pg_switch_wal(), pg_logical_emit_message(true, $$fill$$, $$$$)').then(
              () => false,
              () => true,
            )
          )
            break
        return () => rm(filler, { force: true })
      },
    }
}

/** Until a purchase that began after this moment has its answer; false where none had in time. */
async function firstSale(sold: readonly Purchase[], sinceMs: number): Promise<boolean> {
  while (!sold.some(({ startedMs }) => startedMs >= sinceMs)) {
    if (performance.now() - sinceMs > givenUpAfterMs) return false
    await sleep(100)
  }
  return true
}

/** Seconds without an answer to any buyer: a leader that was cut off answers for a while. */
function longestPause(sold: readonly Purchase[], sinceMs: number): number {
  const ends = sold.map(({ startedMs, ms }) => startedMs + ms).filter((end) => end > sinceMs)
  const times = [sinceMs, ...ends.sort((a, b) => a - b)]
  return Math.max(...times.slice(1).map((end, index) => end - (times[index] ?? end))) / 1000
}

const shown = (seconds: number | false) => (seconds === false ? 'more than 90 s' : `${seconds.toFixed(1)} s`)

const faultOf = ({ what, seconds }: Failure): string[] =>
  seconds !== false && seconds <= backWithinSeconds ? [] : [`${what}: sales back after ${shown(seconds)}`]

/** A promoted synchronous standby has lost nothing: it is no restore, and the process that sold before goes on. */
async function faultsAfter(cluster: Cluster, { pid }: NodeProcess): Promise<string[]> {
  const { rows } = await cluster.owner.query<{ reason: string }>('select reason from restore_gap')
  const paused = await cluster.owner.query<{ name: string }>('select name from pause where paused')
  return [
    ...(isRunning(pid) ? [] : ['the process of the node has ended']),
    ...rows.map(({ reason }) => `treated as a restore: ${reason}`),
    ...paused.rows.map((one) => `${one.name} is paused`),
  ]
}

function isRunning(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

function summary(
  failures: readonly Failure[],
  { measured, notes = [] }: Pick<Verdict, 'measured' | 'notes'>,
  database: FailoverDatabase,
) {
  const seconds = percentiles(failures.map((one) => one.seconds || Number.POSITIVE_INFINITY))
  return {
    measured: `${measured}; ${failures.length} failures, sales back after ${seconds(0.5).toFixed(1)} s (median), ${seconds(1).toFixed(1)} s (longest)`,
    notes: [...notes, ...(database.mounted ? [] : ['left out: a full disk, for no file system could be mounted'])],
  }
}
