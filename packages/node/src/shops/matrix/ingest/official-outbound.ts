import { getServers } from 'node:dns'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Rng } from '@assay/till/kernel/random'
import { createDnsResolver, createOutbound, type Outbound, type OutboundOutcome } from '../../../outbound/index.ts'
import { fetchByFtp } from './ftp-adapter.ts'

/** The way to the publishers. They ask callers to name themselves and a contact address. */
export function officialOutbound(ports: {
  clock: Clock
  rng: Rng
  log: Log
  metrics: Metrics
  mode: 'demo' | 'production'
  contact: string
}): Outbound {
  const { clock, rng, log, metrics, mode, contact } = ports
  const overHttp = createOutbound({
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
  return {
    fetch: (url, options) =>
      url.startsWith('ftp:') ? fetchFtpUrl(url, options.maxBytes, options.totalMs) : overHttp.fetch(url, options),
  }
}

/** The one publisher that knows no other way. Nothing else is reached by FTP, whatever address is given. */
const ftpHosts = new Set(['ftp2.interactivebrokers.com', 'ftp3.interactivebrokers.com'])

async function fetchFtpUrl(text: string, maxBytes: number, totalMs = 120_000): Promise<OutboundOutcome> {
  const refused = (reason: 'url_invalid' | 'host_not_allowed', detail: string): OutboundOutcome => ({
    status: 'refused',
    reason,
    detail,
    url: text,
  })
  if (!URL.canParse(text)) return refused('url_invalid', 'not a URL')
  const { hostname: host, username: user, pathname, port } = new URL(text)
  if (!ftpHosts.has(host) || port !== '')
    return refused('host_not_allowed', `${host} is no publisher that is read by FTP`)
  if (!/^\/[a-z]{2,20}\.txt$/.test(pathname)) return refused('url_invalid', 'not a file of this publisher')
  const outcome = await fetchByFtp(
    { host, port: 21, user: user || 'shortstock', path: pathname.slice(1) },
    { maxBytes, totalMs },
  )
  const answer = { headers: new Map<string, string>(), cut: false, url: text, redirectedFrom: [], secure: false }
  if (outcome.status === 'missing')
    return { status: 'ok', httpStatus: 404, bytes: Buffer.alloc(0), address: '', ...answer }
  if (outcome.status === 'failed')
    return { status: 'failed', reason: outcome.reason, detail: outcome.detail, url: text, retryable: true }
  return { status: 'ok', httpStatus: 200, bytes: outcome.bytes, address: outcome.address, ...answer }
}
