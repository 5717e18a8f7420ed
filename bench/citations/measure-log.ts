import {
  collectCosignatures,
  openDemoWitnesses,
  openLog,
  type TransparencyLog,
} from '../../packages/node/src/tlog/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { createFixedKeyring, generateSigningKey } from '../../packages/till/src/signing/index.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'
import { summarize } from '../percentiles.ts'

const written = 100_000
const proofs = 5_000

/** A log of `leaves` entries on PostgreSQL, cosigned: how fast it grows, and how long proofs of any leaf take. */
export async function measureLog(leaves: number) {
  const db = await openTestDatabase()
  try {
    const { database } = db
    const deps = {
      database,
      clock: systemClock,
      metrics: silentMetrics,
      keyring: createFixedKeyring(generateSigningKey(systemRng), 0),
      origin: 'bench.example/log',
    }
    const writing = await timed(() => writeEntries(database, leaves))
    const log = openLog(deps)
    const placing = await timed(() => log.integrate())
    const witnesses = await openDemoWitnesses({ database, clock: systemClock, rng: systemRng }, log)
    await collectCosignatures({ database, log: silentLog, metrics: silentMetrics, tree: log }, witnesses)
    return {
      leaves,
      write_seconds: Number((writing / 1000).toFixed(1)),
      integrate_seconds: Number((placing / 1000).toFixed(1)),
      integrate_per_second: Math.round(leaves / (placing / 1000)),
      proofs,
      ...(await measureColdAndWarm(openLog(deps), leaves)),
      required_proof_p99_ms: 5,
    }
  } finally {
    await db.close()
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** As the shops write them, many in a statement. Placing them in the tree is what production does. */
async function writeEntries(database: Database, leaves: number): Promise<void> {
  for (let first = 0; first < leaves; first += written)
    await database.query(
      `insert into log_entry (kind, subject, entry, leaf_hash)
       select 'bench', 'bench:' || n, e.entry, sha256('\\x00'::bytea || e.entry) from generate_series($1::int, $2::int) n,
         lateral (select convert_to('{"type":"bench","number":' || n || ',"filler":"' || repeat('x', 400) || '"}', 'UTF8')) e (entry)`,
      [first, Math.min(first + written, leaves) - 1],
    )
}

/** By a process that knows no tile yet, and by the same one once it has checked most of them. */
async function measureColdAndWarm(log: TransparencyLog, leaves: number) {
  const cold = await measureProofs(log, leaves)
  return { ...(await measureProofs(log, leaves)), cold }
}

async function measureProofs(log: TransparencyLog, leaves: number) {
  const times: number[] = []
  const cpu = process.cpuUsage()
  for (let n = 0; n < proofs; n += 1) {
    const subject = `bench:${Math.floor((n * 7_919 * leaves) / proofs) % leaves}`
    const from = performance.now()
    const proof = await log.proofOf(subject, 'witnessed')
    times.push(performance.now() - from)
    if (proof?.witnesses.length !== 2) throw new Error(`no witnessed proof of ${subject}`)
  }
  const { user, system } = process.cpuUsage(cpu)
  const { p50, p99 } = summarize(times)
  return {
    proof_p50_ms: p50,
    proof_p99_ms: p99,
    proof_cpu_micros: Math.round((user + system) / proofs),
  }
}
