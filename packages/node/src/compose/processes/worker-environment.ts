import { demoSettlerKeys } from '@assay/till/devnet/accounts'
import type { Config } from '../../config/load-config.ts'
import { workerVariable } from './messages.ts'

/** What the primary opened for its workers. */
export type Shared = {
  port: number
  url: string
  /** URL of the embedded database; undefined if the configuration names another. */
  databaseUrl?: string | undefined
  /** URLs of the embedded chains, by chain id; none if the configuration names others. */
  rpcUrls: ReadonlyMap<number, string>
}

type Env = Record<string, string | undefined>

/** The environment of one worker: that of the primary, which it joins as any further process would. */
export function workerEnvironment(env: Env, config: Config, shared: Shared, index: number): Env {
  const { rpcCallsPerMinute } = config
  return {
    ...env,
    [workerVariable]: String(index),
    PORT: String(shared.port),
    BASE_URL: config.baseUrl ?? shared.url,
    ...(shared.databaseUrl === undefined ? {} : { DATABASE_URL: shared.databaseUrl }),
    ...rpcVariables(env, config, shared),
    // A wallet is used by one process at a time, so each worker of a demo has one.
    ...(usesDemoSettler(env, config) ? { SETTLER_KEYS: demoSettlerKeys(config.processes).join(',') } : {}),
    // What providers allow is for all workers together; ten calls are the least that can be set.
    ...(rpcCallsPerMinute === undefined
      ? {}
      : { RPC_CALLS_PER_MINUTE: String(Math.max(10, Math.floor(rpcCallsPerMinute / config.processes))) }),
  }
}

/** Where each embedded chain is, in the variable that names the endpoints of its network. */
function rpcVariables(env: Env, config: Config, { rpcUrls }: Shared): Env {
  const chains = env['CHAINS'] ? (JSON.parse(env['CHAINS']) as Record<string, object>) : {}
  const variables: Env = {}
  for (const { chainId, name, rpcVariable } of config.networks) {
    const url = rpcUrls.get(chainId)
    if (url === undefined) continue
    if (rpcVariable === 'CHAINS') chains[name] = { ...chains[name], rpc_urls: [url] }
    variables[rpcVariable] = rpcVariable === 'CHAINS' ? JSON.stringify(chains) : url
  }
  return variables
}

export const usesDemoSettler = (env: Env, { mode, signer }: Config): boolean =>
  mode === 'demo' && !env['SETTLER_KEYS'] && !env['SETTLER_KEYS_FILE'] && signer === undefined
