import { readLimited } from '@assay/protocol/read-limited'
import type { HttpAnswer, MonitorHttp } from './types.ts'

const timeoutMs = 10_000

/** Plain requests to addresses that the operator gave: no redirects, no cookies, a time limit, and no body without end. */
export function createMonitorHttp(userAgent: string): MonitorHttp {
  const ask = async (url: string, init: RequestInit, bytesMax: number): Promise<HttpAnswer> => {
    try {
      const response = await fetch(url, {
        ...init,
        headers: { ...init.headers, 'user-agent': userAgent, 'accept-encoding': 'gzip, identity' },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const bytes = await readLimited(response.body, bytesMax)
      if (bytes === 'too_large') return { ok: false, reason: 'the answer is too large' }
      return { ok: true, status: response.status, bytes: Buffer.from(bytes) }
    } catch (error) {
      return { ok: false, reason: reasonOf(error) }
    }
  }
  return {
    get: (url, bytesMax) => ask(url, {}, bytesMax),
    postJson: (url, body, bytesMax) =>
      ask(
        url,
        { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
        bytesMax,
      ),
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  if (error.name === 'TimeoutError') return 'no answer in time'
  const cause = (error.cause as { code?: string; message?: string } | undefined) ?? {}
  return (cause.code ?? cause.message ?? error.message).slice(0, 100)
}
