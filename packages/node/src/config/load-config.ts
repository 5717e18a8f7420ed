import { resolve } from 'node:path'
import { parseAddress, zeroAddress } from '@assay/protocol/address'
import { demoAccounts } from '@assay/till/devnet/accounts'
import { chooseFacilitators, facilitatorVariables } from '@assay/till/facilitators'
import { ConfigError } from '@assay/till/kernel/config-error'
import { parsePayoutPolicy } from '@assay/till/payouts'
import type { NodeFacts, ShopDeclaration } from '../http/index.ts'
import type { Config } from './config-type.ts'
import { type Environment, environmentSchema } from './environment.ts'
import { configuredNetworks } from './networks.ts'
import { readShops, variablesOf } from './read-shops.ts'
import { unknownVariables } from './unknown-variables.ts'
import { checkDemoJoin, checkProduction } from './validate.ts'
import {
  checkOrigin,
  custodyKeys,
  demoHosts,
  dnsServers,
  factoryList,
  payoutPolicy,
  settlerKeys,
  signerConnection,
  telemetry,
} from './values.ts'
import { withdrawPolicy } from './withdrawals.ts'

export type { Config, ConfiguredNetwork, ConfiguredShop } from './config-type.ts'
export { describeVariables } from './read-shops.ts'

/** Reads the environment with the variables of these shops; all problems are reported together. */
export function readConfig(env: Record<string, string | undefined>, shops: readonly ShopDeclaration[]): Config {
  // An empty variable is an unset one: that is how shells and compose files leave things out.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const known = new Set([environmentSchema.shape, facilitatorVariables, variablesOf(shops)].flatMap(Object.keys))
  const problems = unknownVariables(given, known)
  const parsed = environmentSchema.safeParse(given)
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
    throw new ConfigError([...problems, ...readShops(given, shops, demoFacts).problems])
  }
  const own = toConfig(parsed.data, given, problems)
  const configured = readShops(given, shops, factsOf(own))
  const config = { ...own, shops: configured.shops, values: configured.values }
  if (config.mode === 'production') problems.push(...checkProduction(parsed.data, config))
  else problems.push(...checkDemoJoin(config))
  problems.push(...configured.problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function factsOf(config: Omit<Config, 'shops' | 'values'>): NodeFacts {
  return {
    ...config,
    demo: config.mode === 'demo',
    ownKeys: [...config.custodyKeys, ...config.settlerKeys],
  }
}

/** Where the node's own part is wrong, the shops' parts are still looked at, for their problems only. */
const demoFacts: NodeFacts = {
  demo: true,
  payTo: zeroAddress,
  contactEmail: '',
  royaltyRecipient: zeroAddress,
  contentLicense: '',
  dnsServers: [],
  demoHosts: new Map(),
  payouts: parsePayoutPolicy(),
  withdrawals: { destinations: [], minimumMicro: 0n },
  ownKeys: [],
}

function toConfig(
  env: Environment,
  given: Readonly<Record<string, string | undefined>>,
  problems: string[],
): Omit<Config, 'shops' | 'values'> {
  const demo = env.ASSAY_MODE === 'demo'
  const demoAddress = (role: string) => demoAccounts.find((account) => account.role === role)?.address ?? zeroAddress
  const payTo = parseAddress(env.PAY_TO) ?? (demo ? demoAddress('operator') : zeroAddress)
  const networks = configuredNetworks(env, demo ? demoAddress('custody') : zeroAddress, problems)
  return {
    mode: env.ASSAY_MODE,
    host: env.HOST,
    port: env.PORT,
    processes: env.PROCESSES,
    home: resolve(env.ASSAY_HOME),
    databaseUrl: env.DATABASE_URL,
    databaseUrlDirect: env.DATABASE_URL_DIRECT,
    databasePort: env.DATABASE_PORT,
    networks,
    payTo,
    baseUrl: checkOrigin('BASE_URL', env.BASE_URL, problems),
    apiUrl: checkOrigin('API_URL', env.API_URL, problems),
    signingKeyFile: env.SIGNING_KEY_FILE,
    logKeyFile: env.LOG_KEY_FILE,
    facilitators: chooseFacilitators(env.FACILITATOR, given, problems),
    mpp: env.MPP,
    // A separate signer signs for the contracts that it was given: those of channels are named to it first.
    channels: env.CHANNELS ?? env.SIGNER_URL === undefined,
    screeningList: env.SCREENING_LIST === undefined ? undefined : resolve(env.SCREENING_LIST),
    settlerKeys: settlerKeys(env, demo, problems),
    custodyKeys: custodyKeys(env, demo, problems),
    signer: signerConnection(env, problems),
    payouts: payoutPolicy(env.PAYOUTS, problems),
    withdrawals: withdrawPolicy(env, networks, payTo, problems),
    facilitatorToken: env.FACILITATOR_TOKEN,
    royaltyRecipient: parseAddress(env.ROYALTY_RECIPIENT) ?? payTo,
    contentLicense: env.CONTENT_LICENSE,
    contactEmail: env.CONTACT_EMAIL,
    sharedPayees: env.SHARED_PAYEES ?? false,
    exposureCapMicro: env.EXPOSURE_CAP_USD ?? (demo ? 1_000_000_000_000n : 10_000_000_000n),
    retention: {
      answerDays: env.ANSWERS_KEPT_DAYS,
      ...(env.PAYMENTS_KEPT_DAYS === undefined ? {} : { paymentDays: env.PAYMENTS_KEPT_DAYS }),
    },
    trustProxy: env.TRUST_PROXY,
    metricsPublic: env.METRICS_PUBLIC,
    telemetry: telemetry(env, problems),
    rpcCallsPerMinute: env.RPC_CALLS_PER_MINUTE,
    logLevel: env.LOG_LEVEL ?? (demo ? 'warn' : 'info'),
    erc6492Factories: factoryList(env.ERC6492_FACTORIES, problems),
    dnsServers: dnsServers(env.DNS_SERVERS, problems),
    demoHosts: demoHosts(env.DEMO_HOSTS, demo, problems),
  }
}
