import { setTimeout as sleep } from 'node:timers/promises'
import { withLease } from '../../packages/till/src/jobs/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import { setPause } from '../../packages/till/src/store/pauses.ts'
import { createDatabase } from '../../packages/till/src/store/pool.ts'
import { faultsInBooks } from '../../test/harness/books.ts'
import { isCharged } from '../../test/harness/token-balance.ts'
import { benchPayer, signPayment } from '../load/sign-payments.ts'
import { type Caller, openCaller } from './call.ts'
import type { Cluster } from './cluster.ts'
import { howToInstall } from './install-if-absent.ts'
import { createNodeProcess, type NodeProcess } from './node-process.ts'
import { openBouncer } from './pgbouncer.ts'
import { paidPath, paymentHeader, readTerms } from './terms.ts'
import type { Verdict } from './verdict.ts'

const name = 'two processes through PgBouncer in transaction mode'
const asked = 'purchases, notifications, locks and leases work'
const ports = { clock: systemClock, rng: systemRng, log: silentLog }

export async function workThroughPooler(
  cluster: Cluster,
  purchases: number,
  install: boolean,
  say: (text: string) => void,
): Promise<Verdict> {
  const bouncer = await openBouncer(cluster, install, say)
  if (!bouncer) return { name, asked, measured: 'left out', faults: [howToInstall('pgbouncer')] }
  const env = { DATABASE_URL: bouncer.url, DATABASE_URL_DIRECT: cluster.databaseUrl }
  const nodes = await Promise.all([createNodeProcess(cluster, env), createNodeProcess(cluster, env)])
  const pooled = createDatabase({ target: { url: bouncer.url }, direct: { url: cluster.databaseUrl }, ...ports })
  const caller = openCaller(32)
  try {
    const faults = [...(await lastingThings(pooled))]
    for (const node of nodes) await node.start()
    faults.push(...(await buyAtBoth(cluster, caller, nodes, purchases)))
    const stoppedMs = await switchOff(cluster, caller, nodes)
    if (stoppedMs > 2_000) faults.push(`a switch took ${stoppedMs} ms to reach both processes`)
    faults.push(...(await takeOver(cluster, nodes)), ...(await faultsInBooks(cluster.owner)))
    const measured = `${purchases} purchases served once each, a switch seen by both in ${stoppedMs} ms, 100 of 100 notifications, 1 of 8 got the lease`
    return { name, asked, measured, faults, notes: [bouncer.version] }
  } finally {
    caller.close()
    await Promise.all(nodes.map((node) => node.end('SIGTERM')))
    await pooled.close()
    await bouncer.stop()
  }
}

/** What lasts longer than a transaction: notifications, locks of a session, leases; and named statements, which may not. */
async function lastingThings(pooled: Database): Promise<string[]> {
  const faults: string[] = []
  let heard = 0
  const stop = await pooled.listen('scale_probe', () => {
    heard += 1
  })
  await Promise.all(Array.from({ length: 100 }, () => pooled.query(`select pg_notify('scale_probe', '')`)))
  for (let tries = 0; heard < 100 && tries < 100; tries += 1) await sleep(50)
  await stop()
  if (heard !== 100) faults.push(`${heard} of 100 notifications came`)
  const lock = await pooled.holdLock(4_711n)
  const held = `select from pg_locks where locktype = 'advisory' and granted and objid = 4711`
  if ((await pooled.query(held)).rowCount !== 1) faults.push('a lock of a session is not held')
  await lock.release()
  for (let tries = 0; (await pooled.query(held)).rowCount !== 0 && tries < 50; tries += 1) await sleep(20)
  if ((await pooled.query(held)).rowCount !== 0) faults.push('a lock outlived its session')
  const tries = await Promise.all(
    Array.from({ length: 8 }, () => withLease({ database: pooled, ...ports }, 'scale.probe', 5_000, () => sleep(100))),
  )
  const ran = tries.filter((one) => one.ran).length
  if (ran !== 1) faults.push(`${ran} of 8 got the lease`)
  const named = { name: 'scale_probe', text: 'select $1::int as n', values: [1] }
  await Promise.all(Array.from({ length: 64 }, () => pooled.query(named)))
  return faults
}

/** Each payment goes to both processes at once. */
async function buyAtBoth(
  cluster: Cluster,
  caller: Caller,
  nodes: readonly NodeProcess[],
  purchases: number,
): Promise<string[]> {
  const faults: string[] = []
  const terms = await readTerms(caller, nodes[0]?.port ?? 0)
  const buy = async (index: number) => {
    const payer = benchPayer(index)
    const signed = signPayment(payer, terms)
    const headers = { 'payment-signature': paymentHeader(terms, signed) }
    const answers = await Promise.all(nodes.map(({ port }) => caller.get(port, paidPath, headers)))
    const served = answers.filter(({ status }) => status === 200).length
    if (served !== 1) faults.push(`served ${served} times: ${answers.map(({ status }) => status).join(' and ')}`)
    if (!(await isCharged(cluster.base, payer.address, signed.authorization.nonce))) faults.push('never charged')
  }
  await Promise.all(Array.from({ length: purchases }, (_, index) => buy(index)))
  return faults
}

/** Until both processes refuse to sell. */
async function switchOff(cluster: Cluster, caller: Caller, nodes: readonly NodeProcess[]): Promise<number> {
  const startedMs = performance.now()
  const change = { name: 'sales', reason: 'scale', by: 'scale' } as const
  await setPause(cluster.owner, { ...change, paused: true })
  const refuses = async ({ port }: NodeProcess) => (await caller.get(port, paidPath)).status === 503
  for (;;) {
    const all = await Promise.all(nodes.map(refuses))
    if (all.every(Boolean) || performance.now() - startedMs > 20_000) break
    await sleep(10)
  }
  const tookMs = Math.round(performance.now() - startedMs)
  await setPause(cluster.owner, { ...change, paused: false })
  return tookMs
}

/** One process is killed: its lock goes with it, and a process that lives finishes rounds of the jobs. */
async function takeOver(cluster: Cluster, nodes: readonly NodeProcess[]): Promise<string[]> {
  await nodes[0]?.end('SIGKILL')
  const { rows } = await cluster.owner.query<{ at: Date }>('select clock_timestamp() as at')
  const at = rows[0]?.at
  const isTaken = async () => {
    const found = await cluster.owner.query(
      `select from job_lease where name = 'payments.recover' and owner_alive(owner) and finished_at > $1`,
      [at],
    )
    return found.rowCount === 1
  }
  const startedMs = performance.now()
  while (!(await isTaken()))
    if (performance.now() - startedMs > 60_000) return ['the other process did not take the jobs over']
    else await sleep(100)
  return []
}
