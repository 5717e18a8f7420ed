import { getServers } from 'node:dns'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Rng } from '../../kernel/random.ts'
import { createDnsResolver, createOutbound, type Outbound } from '../../outbound/index.ts'

/** The way to the publishers. They ask to be told who calls and how to write to them. */
export function officialOutbound(ports: {
  clock: Clock
  rng: Rng
  log: Log
  metrics: Metrics
  mode: 'demo' | 'production'
  contact: string
}): Outbound {
  const { clock, rng, log, metrics, mode, contact } = ports
  return createOutbound({
    // A port behind the address is the default one.
    resolvers: getServers().map((server) =>
      createDnsResolver({ server: server.replace(/^\[(.*)\].*$/, '$1').replace(/^([\d.]+):\d+$/, '$1'), clock, rng }),
    ),
    clock,
    log,
    metrics,
    mode,
    userAgent: `Assay/1.0.0 (${contact})`,
  })
}
