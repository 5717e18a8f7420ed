import type { Clock } from '../kernel/clock.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

export type RpcFault = {
  /** How many calls fail. Default 1. */
  times?: number
  error?: { code?: number; message?: string; data?: unknown }
  /** `after`: the call does its work and only the answer is lost, as when a connection breaks. Default `before`. */
  when?: 'before' | 'after'
  /** Only calls whose parameters contain this text, such as an address. Jobs read the chain too and could take the fault. */
  about?: string
}

/** Makes calls fail or wait, for callers of the chain; the test controls themselves are never affected. */
export type Faults = {
  failNext(method: string, fault?: RpcFault): void
  /** For one method, or `*` for all; 0 ends it. */
  setLatency(ms: number, method?: string): void
  clear(): void
  apply<T>(method: string, params: unknown, work: () => Promise<T>): Promise<T>
}

export function createFaults(clock: Clock): Faults {
  const armed: { method: string; left: number; when: 'before' | 'after'; about: string; error: RpcError }[] = []
  const latencies = new Map<string, number>()

  const strike = (method: string, params: unknown, when: 'before' | 'after') => {
    const text = (JSON.stringify(params) ?? '').toLowerCase()
    const index = armed.findIndex(
      (one) => (one.method === method || one.method === '*') && one.when === when && text.includes(one.about),
    )
    const fault = armed[index]
    if (fault === undefined) return
    fault.left -= 1
    if (fault.left <= 0) armed.splice(index, 1)
    throw fault.error
  }

  return {
    failNext: (method, { times = 1, error = {}, when = 'before', about = '' } = {}) => {
      const { code = rpcCodes.internal, message = 'fault made by a test', data } = error
      armed.push({ method, left: times, when, about: about.toLowerCase(), error: new RpcError(code, message, data) })
    },
    setLatency: (ms, method = '*') => {
      if (ms > 0) latencies.set(method, ms)
      else latencies.delete(method)
    },
    clear: () => {
      armed.length = 0
      latencies.clear()
    },
    apply: async (method, params, work) => {
      const ms = latencies.get(method) ?? latencies.get('*') ?? 0
      if (ms > 0) await clock.sleep(ms)
      if (armed.length > 0) strike(method, params, 'before')
      const answer = await work()
      if (armed.length > 0) strike(method, params, 'after')
      return answer
    },
  }
}
