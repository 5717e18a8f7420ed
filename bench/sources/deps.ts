import { createOutbound, type LoopbackTarget } from '../../packages/node/src/outbound/index.ts'
import { defaultSettings, type SourceDeps } from '../../packages/node/src/shops/sources/deps.ts'
import { knownNetworks } from '../../packages/till/src/chain/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../packages/till/src/kernel/ids.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import type { ProofDeps } from '../../packages/till/src/proofs/index.ts'
import type { Database } from '../../packages/till/src/store/database.ts'

/** The use cases of sources on a database and loopback hosts, with nothing else of the node around them. */
export function benchDeps(database: Database, hosts: ReadonlyMap<string, LoopbackTarget>): SourceDeps {
  const [base] = knownNetworks
  if (!base) throw new Error('no network')
  return {
    database,
    clock: systemClock,
    rng: systemRng,
    ids: createIds(systemClock, systemRng),
    claimSecret: systemRng.bytes(32),
    termsChanges: { count: 0 },
    log: silentLog,
    metrics: silentMetrics,
    outbound: createOutbound({
      resolvers: [],
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
      userAgent: 'AssayBot/1.0 (bench)',
      loopbackHosts: hosts,
      mode: 'demo',
    }),
    resolvers: [],
    // Nothing here proves anything.
    proofs: {} as ProofDeps,
    jws: { sign: () => 'bench', verify: () => undefined },
    apiUrl: 'http://127.0.0.1',
    base,
    domains: { ownHosts: new Set(), demoHosts: hosts },
    settings: defaultSettings,
  }
}
