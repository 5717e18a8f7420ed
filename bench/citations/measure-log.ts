import { appendToLog, openLog } from '../../packages/node/src/citations/log/index.ts'
import { createIntegrator } from '../../packages/node/src/citations/log/integrate.ts'
import { systemClock } from '../../packages/node/src/kernel/clock.ts'
import { silentMetrics } from '../../packages/node/src/kernel/metrics.ts'
import { systemRng } from '../../packages/node/src/kernel/random.ts'
import { createFixedKeyring, generateSigningKey } from '../../packages/node/src/signing/index.ts'
import { openTestDatabase } from '../../packages/node/src/store/testing.ts'

const batch = 8_192
const proofs = 2_000

/** A log of `leaves` entries on PostgreSQL: how fast it grows, and how long a proof takes from a cold and a warm cache. */
export async function measureLog(leaves: number) {
  const db = await openTestDatabase()
  try {
    const deps = {
      database: db.database,
      clock: systemClock,
      metrics: silentMetrics,
      keyring: createFixedKeyring(generateSigningKey(systemRng), 0),
      origin: 'bench.example/log',
    }
    const integrate = createIntegrator(deps)
    const startedAt = performance.now()
    let integrateMs = 0
    for (let first = 0; first < leaves; first += batch) {
      const drafts = Array.from({ length: Math.min(batch, leaves - first) }, (_, n) => ({
        kind: 'bench',
        subject: `bench:${first + n}`,
        entry: Buffer.from(JSON.stringify({ type: 'bench', number: first + n })),
      }))
      await appendToLog(db.database, drafts)
      const from = performance.now()
      await integrate()
      integrateMs += performance.now() - from
    }
    const seconds = (performance.now() - startedAt) / 1000
    const log = openLog(deps)
    const times: number[] = []
    for (let n = 0; n < proofs; n += 1) {
      const subject = `bench:${Math.floor((n * 7_919 * leaves) / proofs) % leaves}`
      const from = performance.now()
      if (!(await log.proofOf(subject, 'witnessed'))) throw new Error(`no proof of ${subject}`)
      times.push(performance.now() - from)
    }
    times.sort((a, b) => a - b)
    const at = (share: number) => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(2))
    return {
      leaves,
      append_and_integrate_per_second: Math.round(leaves / seconds),
      integrate_per_second: Math.round(leaves / (integrateMs / 1000)),
      proof_p50_ms: at(0.5),
      proof_p99_ms: at(0.99),
      required_proof_p99_ms: 5,
    }
  } finally {
    await db.close()
  }
}
