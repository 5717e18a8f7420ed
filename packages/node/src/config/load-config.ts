import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseAddress, zeroAddress } from '@assay/protocol/address'
import { demoAccounts } from '@assay/till/devnet/accounts'
import { chooseFacilitators, facilitatorVariables } from '@assay/till/facilitators'
import { ConfigError } from '@assay/till/kernel/config-error'
import { parsePayoutPolicy } from '@assay/till/payouts'
import type { ShopDeclaration } from '../shops/shop.ts'
import type { NodeFacts } from '../shops/shop-settings.ts'
import type { Config } from './config-type.ts'
import { type Environment, environmentSchema } from './environment.ts'
import { configuredNetworks } from './networks.ts'
import { countWorkers } from './processes.ts'
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
  const { parsed, wrong } = parseEnvironment(given, known)
  if (!parsed) throw new ConfigError([...problems, ...wrong.values(), ...readShops(given, shops, demoFacts).problems])
  const rest: string[] = []
  const own = toConfig(parsed, given, rest)
  const configured = readShops(given, shops, factsOf(own))
  const config = { ...own, shops: configured.shops, values: configured.values }
  if (config.mode === 'production') rest.push(...checkProduction(parsed, config))
  else rest.push(...checkDemoJoin(config))
  rest.push(...configured.problems)
  const isFollowUp = (text: string) =>
    text
      .split(':')[0]
      ?.split(/\W+/)
      .some((name) => wrong.has(name))
  problems.push(...wrong.values(), ...rest.filter((text) => !isFollowUp(text)))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** What is wrong by itself, by its name, and the rest without it, whose problems are reported with the same error. */
function parseEnvironment(
  given: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): { parsed: Environment | undefined; wrong: ReadonlyMap<string, string> } {
  const wrong = new Map<string, string>()
  for (const [name, value] of Object.entries(given))
    if (known.has(name) && /^[^{[]*…/.test(value ?? '')) wrong.set(name, `${name}: is not filled in`)
  const without = () => Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)))
  for (const { path, message } of environmentSchema.safeParse(without()).error?.issues ?? [])
    wrong.set(String(path[0] ?? ''), `${path.join('.')}: ${message}`)
  return { parsed: wrong.has('ASSAY_MODE') ? undefined : environmentSchema.safeParse(without()).data, wrong }
}

function factsOf(config: Omit<Config, 'shops' | 'values'>): NodeFacts {
  return {
    ...config,
    demo: config.mode === 'demo',
    ownKeys: [...config.custodyKeys, ...config.settlerKeys],
  }
}

/** Where the node's own part is wrong, the shops' parts are still checked, for their problems only. */
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
    processes:
      env.PROCESSES === 'auto' ? countWorkers(availableParallelism(), env.DATABASE_URL) : Number(env.PROCESSES),
    supervised: env.PROCESSES !== '1',
    home: resolve(env.ASSAY_HOME),
    databaseUrl: env.DATABASE_URL,
    databaseUrlDirect: env.DATABASE_URL_DIRECT,
    databaseUrlReplica: env.DATABASE_URL_REPLICA,
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
