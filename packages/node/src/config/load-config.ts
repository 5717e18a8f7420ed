import { resolve } from 'node:path'
import { chooseFacilitator } from '@assay/till/facilitators'
import { parseAddress, zeroAddress } from '@assay/till/kernel/address'
import { demoAccounts } from '../devnet/accounts.ts'
import type { Config } from './config-type.ts'
import { type Environment, environmentSchema } from './environment.ts'
import { configuredNetworks } from './networks.ts'
import { checkDemoJoin, checkProduction } from './validate.ts'
import { checkOrigin, custodyKeys, demoHosts, dnsServers, factoryList, moverKey, settlerKeys } from './values.ts'

export type { Config, ConfiguredNetwork } from './config-type.ts'
export { environmentSchema } from './environment.ts'

/** Stops the start. The message lists every problem, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.map((text) => `  - ${text}`).join('\n')}`,
    )
    this.problems = problems
  }
}

export function parseConfig(env: Record<string, string | undefined>): Config {
  // An empty variable is an unset one: that is how shells and compose files leave things out.
  const given = Object.fromEntries(
    Object.entries(env).filter(([key, value]) => key in environmentSchema.shape && value !== undefined && value !== ''),
  )
  const parsed = environmentSchema.safeParse(given)
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
  const problems: string[] = []
  const config = toConfig(parsed.data, problems)
  if (config.mode === 'production') problems.push(...checkProduction(parsed.data, config))
  else problems.push(...checkDemoJoin(config))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function toConfig(env: Environment, problems: string[]): Config {
  const demo = env.ASSAY_MODE === 'demo'
  const demoAddress = (role: string) => demoAccounts.find((account) => account.role === role)?.address ?? zeroAddress
  const payTo = parseAddress(env.PAY_TO) ?? (demo ? demoAddress('operator') : zeroAddress)
  const keys = { settlers: settlerKeys(env, demo, problems), custody: custodyKeys(env, demo, problems) }
  return {
    mode: env.ASSAY_MODE,
    host: env.HOST,
    port: env.PORT,
    home: resolve(env.ASSAY_HOME),
    databaseUrl: env.DATABASE_URL,
    databaseUrlDirect: env.DATABASE_URL_DIRECT,
    databasePort: env.DATABASE_PORT,
    networks: configuredNetworks(env, demo ? demoAddress('custody') : zeroAddress, problems),
    payTo,
    baseUrl: checkOrigin('BASE_URL', env.BASE_URL, problems),
    apiUrl: checkOrigin('API_URL', env.API_URL, problems),
    signingKeyFile: env.SIGNING_KEY_FILE,
    logKeyFile: env.LOG_KEY_FILE,
    facilitator: chooseFacilitator(env.FACILITATOR, env, problems),
    settlerKeys: keys.settlers,
    custodyKeys: keys.custody,
    moverKey: moverKey(env, demo, [...keys.custody, ...keys.settlers], problems),
    tokens: env.TOKENS ?? {},
    matrix: env.MATRIX ?? {},
    licences: env.LICENCES,
    subscriptions: env.SUBSCRIPTIONS ?? {},
    rewards: env.REWARDS ?? {},
    citations: env.CITATIONS ?? {},
    intents: env.INTENTS ?? {},
    options: env.OPTIONS ?? {},
    natsUrl: env.NATS_URL,
    mesh: env.MESH ?? {},
    meshPeers: env.MESH_PEERS.flatMap((peer) => checkOrigin('MESH_PEERS', peer, problems) ?? []),
    payouts: env.PAYOUTS ?? {},
    credit: env.CREDIT ?? {},
    identity: env.IDENTITY ?? {},
    facilitatorToken: env.FACILITATOR_TOKEN,
    royaltyRecipient: parseAddress(env.ROYALTY_RECIPIENT) ?? payTo,
    contentLicense: env.CONTENT_LICENSE,
    contactEmail: env.CONTACT_EMAIL,
    sandbox: env.SANDBOX ?? demo,
    sharedPayees: env.SHARED_PAYEES ?? false,
    didMethod: env.DID_METHOD,
    exposureCapMicro: env.EXPOSURE_CAP_USD ?? (demo ? 1_000_000_000_000n : 10_000_000_000n),
    trustProxy: env.TRUST_PROXY,
    operators: env.OPERATORS?.flatMap((text) => parseAddress(text) ?? []) ?? [payTo],
    metricsPublic: env.METRICS_PUBLIC,
    logLevel: env.LOG_LEVEL ?? (demo ? 'warn' : 'info'),
    erc6492Factories: factoryList(env.ERC6492_FACTORIES, problems),
    dnsServers: dnsServers(env.DNS_SERVERS, problems),
    demoHosts: demoHosts(env.DEMO_HOSTS, demo, problems),
  }
}
