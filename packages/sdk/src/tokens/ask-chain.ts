import { defaultPlatform, type Platform } from '../platform.ts'
import { type AskChain, ProveError } from './prove-report.ts'

const timeoutMs = 30_000

/** JSON-RPC over HTTP. */
export function askOver(url: string, platform: Platform = defaultPlatform): AskChain {
  const { host } = new URL(url)
  let asked = 0
  return async (method, params) => {
    asked += 1
    const limit = platform.timeout(timeoutMs)
    const body = JSON.stringify({ jsonrpc: '2.0', id: asked, method, params })
    const headers = { 'content-type': 'application/json' }
    try {
      const response = await platform.fetch(new Request(url, { method: 'POST', headers, body, signal: limit.signal }))
      const reply = (await response.json()) as { result?: unknown; error?: { message?: string } } | null
      if (reply?.result !== undefined) return reply.result
      throw new ProveError('unread', `${host} refused ${method}: ${reply?.error?.message ?? response.status}`)
    } catch (error) {
      if (error instanceof ProveError) throw error
      throw new ProveError('unread', `${host} did not answer ${method}: ${String(error)}`)
    } finally {
      limit.clear()
    }
  }
}
