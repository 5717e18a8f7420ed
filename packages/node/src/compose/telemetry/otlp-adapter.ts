export type OtlpSend = (path: '/v1/traces' | '/v1/metrics', body: string) => Promise<boolean>

export type OtlpSettings = { endpoint: string; headers: Record<string, string>; serviceName: string }

/** One request to a collector; false for whatever is not success. What was not taken is not sent again. */
export function otlpSender({ endpoint, headers }: OtlpSettings, timeoutMs: number): OtlpSend {
  const base = endpoint.replace(/\/+$/, '')
  return async (path, body) => {
    try {
      const response = await fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      await response.body?.cancel()
      return response.ok
    } catch {
      return false
    }
  }
}
