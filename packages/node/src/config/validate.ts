import { zeroAddress } from '@assay/protocol/address'
import { demoSettlerKeys } from '@assay/till/devnet/accounts'
import { facilitatorChoices, settlesItself } from '@assay/till/facilitators'
import type { Config } from './config-type.ts'
import { demoAccountsOf } from './demo-accounts.ts'
import { type Environment, processesMax } from './environment.ts'

/** A demo node brings its own database and chains, or joins those of another: half of each cannot work. */
export function checkDemoJoin(config: Config): string[] {
  const joinsChains = config.networks.every(({ rpcUrls }) => rpcUrls.length > 0)
  if (config.databaseUrlDirect !== undefined && config.databaseUrl === undefined)
    return ['DATABASE_URL_DIRECT: names the server behind the pooler that DATABASE_URL names, which is missing']
  if (config.databaseUrlReplica !== undefined && config.databaseUrl === undefined)
    return ['DATABASE_URL_REPLICA: names a standby of the server that DATABASE_URL names, which is missing']
  const anyRpc = config.networks.some(({ rpcUrls }) => rpcUrls.length > 0)
  if (config.databaseUrl !== undefined && !joinsChains)
    return [
      'DATABASE_URL: a demo node that joins a database also needs BASE_RPC_URLS and POLYGON_RPC_URLS of the same node',
    ]
  if (anyRpc && !joinsChains) return ['BASE_RPC_URLS, POLYGON_RPC_URLS and rpc_urls in CHAINS: set all or none']
  return []
}

export function checkProduction(env: Environment, config: Config): string[] {
  const problems: string[] = []
  const need = (name: keyof Environment, why: string) => {
    if (env[name] === undefined || (Array.isArray(env[name]) && (env[name] as unknown[]).length === 0))
      problems.push(`${name}: missing, ${why}`)
  }
  need('DATABASE_URL', 'the embedded database is for demo mode')
  need('BASE_RPC_URLS', 'production reads the real chain')
  need('POLYGON_RPC_URLS', 'production reads the real chain')
  need('PAY_TO', 'where the operator is paid')
  need('CUSTODY', 'where money that is owed to others is kept')
  need('BASE_URL', 'the public address of the node: tokens, feeds, console')
  need('API_URL', 'the public address for citations, stream, options and other nodes; may be that of BASE_URL')
  // A signer may hold them.
  if (config.signer === undefined) {
    const make = (file: string) => `make one: openssl genpkey -algorithm ed25519 -out ${file} && chmod 600 ${file}`
    need('SIGNING_KEY_FILE', `answers are signed with it; ${make('signing-key.pem')}`)
    need('LOG_KEY_FILE', `heads of the log are signed with it; ${make('log-key.pem')}`)
  }
  if (env.LOG_KEY_FILE !== undefined && env.LOG_KEY_FILE === env.SIGNING_KEY_FILE)
    problems.push('LOG_KEY_FILE: must not be SIGNING_KEY_FILE, the log has its own key')
  need('FACILITATOR', `${facilitatorChoices.join(', ')}, or several of them`)
  need('CONTACT_EMAIL', 'buyers and indexers need someone to write to')
  for (const { name, rpcUrls, rpcVariable } of config.networks)
    if (rpcVariable === 'CHAINS' && rpcUrls.length === 0)
      problems.push(`CHAINS: ${name}.rpc_urls is missing, production reads the real chain`)
  for (const [name, url] of [
    ['BASE_URL', config.baseUrl],
    ['API_URL', config.apiUrl],
  ] as const)
    if (url !== undefined && !url.startsWith('https://')) problems.push(`${name}: must be https in production`)
  const settling = env.FACILITATOR === undefined ? undefined : settlesItself(config.facilitators)
  if (settling !== undefined && config.settlerKeys.length === 0 && !config.signer)
    problems.push(`SETTLER_KEYS, SETTLER_KEYS_FILE or SIGNER_URL: missing, needed by FACILITATOR=${settling}`)
  problems.push(...demoValues(env, config))
  return problems
}

/** Demo keys are public: anyone could empty what they hold. */
function demoValues(env: Environment, config: Config): string[] {
  const demoAccounts = demoAccountsOf(config.shops)
  const addresses = new Set(demoAccounts.map((account) => account.address.toLowerCase()))
  const demoKeys = [...demoAccounts.map(({ privateKey }) => privateKey), ...demoSettlerKeys(processesMax)]
  const keys = new Set(demoKeys.map((key) => key.toLowerCase()))
  const problems: string[] = []
  if (addresses.has(config.payTo)) problems.push('PAY_TO: is a demo account, whose key everybody has')
  const custody = config.networks.map((network) => network.custody)
  if (custody.some((address) => addresses.has(address)))
    problems.push('CUSTODY: is a demo account, whose key everybody has')
  // What is missing has been named already.
  const areGiven = env.PAY_TO !== undefined && env.CUSTODY !== undefined
  if (areGiven && custody.includes(config.payTo))
    problems.push('CUSTODY: must not be PAY_TO, others’ money is kept apart')
  if (config.settlerKeys.some((key) => keys.has(key.toLowerCase()))) problems.push('SETTLER_KEYS: contains a demo key')
  if (config.custodyKeys.some((key) => keys.has(key.toLowerCase()))) problems.push('CUSTODY_KEYS: contains a demo key')
  if (areGiven && [config.payTo, ...custody].includes(zeroAddress))
    problems.push('PAY_TO and CUSTODY: must not be the zero address')
  return problems
}
