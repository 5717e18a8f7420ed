import { demoSettlerKeys } from '@assay/till/devnet/accounts'
import type { Config } from '../../config/load-config.ts'
import { workerVariable } from './messages.ts'

/** What the primary opened for its workers. */
export type Shared = {
  port: number
  url: string
  /** Of the embedded database and chains; undefined where the configuration names others. */
  databaseUrl?: string | undefined
  rpcUrls?: readonly string[] | undefined
}

type Env = Record<string, string | undefined>

/** The environment of one worker: that of the primary, which it joins as any further process would. */
export function workerEnvironment(env: Env, config: Config, shared: Shared, index: number): Env {
  const [base, polygon, ...further] = shared.rpcUrls ?? []
  const names = config.networks.slice(2).map(({ name }) => name)
  const chains = { ...(env['CHAINS'] ? (JSON.parse(env['CHAINS']) as Record<string, object>) : {}) }
  for (const [place, name] of names.entries())
    if (further[place] !== undefined) chains[name] = { ...chains[name], rpc_urls: [further[place]] }
  const { rpcCallsPerMinute } = config
  return {
    ...env,
    [workerVariable]: String(index),
    PORT: String(shared.port),
    BASE_URL: config.baseUrl ?? shared.url,
    ...(shared.databaseUrl === undefined ? {} : { DATABASE_URL: shared.databaseUrl }),
    ...(base === undefined ? {} : { BASE_RPC_URLS: base, POLYGON_RPC_URLS: polygon }),
    ...(names.length > 0 ? { CHAINS: JSON.stringify(chains) } : {}),
    // A wallet is used by one process at a time, so each worker of a demo has one.
    ...(usesDemoSettler(env, config) ? { SETTLER_KEYS: demoSettlerKeys(config.processes).join(',') } : {}),
    // What providers allow is for all workers together; ten calls are the least that can be set.
    ...(rpcCallsPerMinute === undefined
      ? {}
      : { RPC_CALLS_PER_MINUTE: String(Math.max(10, Math.floor(rpcCallsPerMinute / config.processes))) }),
  }
}

export const usesDemoSettler = (env: Env, { mode, signer }: Config): boolean =>
  mode === 'demo' && !env['SETTLER_KEYS'] && !env['SETTLER_KEYS_FILE'] && signer === undefined
