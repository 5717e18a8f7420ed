import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { knownNetworks, type Network } from './chain/index.ts'
import { demoAccounts } from './devnet/accounts.ts'
import { type Address, hasChecksum, parseAddress, zeroAddress } from './kernel/address.ts'
import { type Hex, isHex } from './kernel/bytes.ts'
import { type Micro, parseUsd } from './kernel/money.ts'
import { type LoopbackTarget, parseIp, parseLoopbackHosts } from './outbound/index.ts'

/** Everything the operator can set. Parsed once; all problems are reported together. */
export type Config = {
  mode: 'demo' | 'production'
  host: string
  port: number
  home: string
  databaseUrl: string | undefined
  databasePort: number
  devnetPorts: readonly [number, number]
  /** Base first, then Polygon, main or test networks. Demo chains replace the assets. */
  networks: readonly [Network, Network]
  rpcUrls: readonly [readonly string[], readonly string[]]
  payTo: Address
  custody: readonly [Address, Address]
  baseUrl: string | undefined
  apiUrl: string | undefined
  signingKeyFile: string | undefined
  facilitator: FacilitatorChoice
  settlerKeys: readonly Hex[]
  /** Keys of the custody wallets, by which the node pays others. Without one nothing is paid out on that chain. */
  custodyKeys: readonly Hex[]
  /** What a shop reads of its own accord, so that the shop can be taken out with its variable. */
  tokens: Record<string, unknown>
  matrix: Record<string, unknown>
  licences: string | undefined
  subscriptions: Record<string, unknown>
  rewards: Record<string, unknown>
  payouts: Record<string, unknown>
  facilitatorToken: string | undefined
  royaltyRecipient: Address
  contentLicense: string
  contactEmail: string
  sandbox: boolean
  didMethod: string
  exposureCapMicro: Micro
  trustProxy: number
  metricsPublic: boolean
  logLevel: 'silent' | 'error' | 'warn' | 'info'
  erc6492Factories: readonly Address[]
  /** Recursive resolvers of different operators; a domain is believed only when two agree. */
  dnsServers: readonly string[]
  /** Names under .test that a demo node asks at loopback. */
  demoHosts: ReadonlyMap<string, LoopbackTarget>
}

export type FacilitatorChoice =
  | { kind: 'local' }
  | { kind: 'cdp'; keyId: string; keySecret: string }
  | { kind: 'url'; url: string }

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

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((value) => value < 65_536, 'must be below 65536')
const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')
const usd = z.string().transform((text, context) => {
  const micro = parseUsd(text)
  if (micro === undefined) context.addIssue({ code: 'custom', message: 'must be decimal USD such as 2500 or 0.5' })
  return micro ?? 0n
})
const urlList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
)
const checksummed = z.string().refine((text) => hasChecksum(text), 'must be an address with its EIP-55 checksum')

const jsonObject = z.string().transform((text, context) => {
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {}
  context.addIssue({ code: 'custom', message: 'must be a JSON object' })
  return {}
})

/** The environment, name by name. docs/configuration.md is compared with these keys by a test. */
export const environmentSchema = z.object({
  ASSAY_MODE: z.enum(['demo', 'production'], 'must be demo or production').default('demo'),
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(4020),
  ASSAY_HOME: z.string().default('.assay'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
  DATABASE_PORT: port.default(0),
  DEVNET_PORTS: z
    .string()
    .regex(/^\d{1,5},\d{1,5}$/, 'must be two ports such as 8545,8546')
    .transform((text) => text.split(',').map(Number) as [number, number])
    .default([8545, 8546]),
  NETWORKS: z.enum(['main', 'test'], 'must be main or test').default('main'),
  BASE_RPC_URLS: urlList.default([]),
  POLYGON_RPC_URLS: urlList.default([]),
  PAY_TO: checksummed.optional(),
  CUSTODY: z.string().optional(),
  BASE_URL: z.string().optional(),
  API_URL: z.string().optional(),
  SIGNING_KEY_FILE: z.string().optional(),
  FACILITATOR: z.string().optional(),
  CDP_API_KEY_ID: z.string().optional(),
  CDP_API_KEY_SECRET: z.string().optional(),
  SETTLER_KEYS: z.string().optional(),
  SETTLER_KEYS_FILE: z.string().optional(),
  CUSTODY_KEYS: z.string().optional(),
  CUSTODY_KEYS_FILE: z.string().optional(),
  TOKENS: jsonObject.optional(),
  MATRIX: jsonObject.optional(),
  LICENCES: z.string().optional(),
  SUBSCRIPTIONS: jsonObject.optional(),
  REWARDS: jsonObject.optional(),
  PAYOUTS: jsonObject.optional(),
  FACILITATOR_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{32,512}$/, 'must have 32 to 512 visible ASCII characters without spaces')
    .optional(),
  ROYALTY_RECIPIENT: checksummed.optional(),
  CONTENT_LICENSE: z
    .string()
    .regex(/^[A-Za-z0-9.+-]{1,64}$/, 'must be an SPDX expression')
    .default('LicenseRef-Assay-1.0'),
  CONTACT_EMAIL: z
    .string()
    .regex(/^[^@\s]+@[^@\s]+$/, 'must be an e-mail address')
    .default('operator@localhost'),
  SANDBOX: flag.optional(),
  DID_METHOD: z
    .string()
    .regex(/^[a-z0-9]{1,20}$/, 'must be lower-case letters and digits')
    .default('x402'),
  EXPOSURE_CAP_USD: usd.optional(),
  TRUST_PROXY: z
    .string()
    .regex(/^[0-9]$/, 'must be a number of proxies, 0 to 9')
    .transform(Number)
    .default(0),
  METRICS_PUBLIC: flag.default(false),
  LOG_LEVEL: z.enum(['silent', 'error', 'warn', 'info']).optional(),
  ERC6492_FACTORIES: z.string().optional(),
  DNS_SERVERS: z.string().default('1.1.1.1,9.9.9.9'),
  DEMO_HOSTS: z.string().optional(),
})

type Environment = z.infer<typeof environmentSchema>

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
  if (config.mode === 'production') problems.push(...weakInProduction(parsed.data, config))
  else problems.push(...halfJoined(config))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function toConfig(env: Environment, problems: string[]): Config {
  const demo = env.ASSAY_MODE === 'demo'
  const demoAddress = (role: string) => demoAccounts.find((account) => account.role === role)?.address ?? zeroAddress
  const payTo = parseAddress(env.PAY_TO) ?? (demo ? demoAddress('operator') : zeroAddress)
  const networks = networkPair(env.NETWORKS)
  return {
    mode: env.ASSAY_MODE,
    host: env.HOST,
    port: env.PORT,
    home: resolve(env.ASSAY_HOME),
    databaseUrl: env.DATABASE_URL,
    databasePort: env.DATABASE_PORT,
    devnetPorts: env.DEVNET_PORTS,
    networks,
    rpcUrls: [
      checkUrls('BASE_RPC_URLS', env.BASE_RPC_URLS, problems),
      checkUrls('POLYGON_RPC_URLS', env.POLYGON_RPC_URLS, problems),
    ],
    payTo,
    custody: custodyPair(env.CUSTODY, networks, demo ? demoAddress('custody') : zeroAddress, problems),
    baseUrl: checkOrigin('BASE_URL', env.BASE_URL, problems),
    apiUrl: checkOrigin('API_URL', env.API_URL, problems),
    signingKeyFile: env.SIGNING_KEY_FILE,
    facilitator: facilitatorChoice(env, problems),
    settlerKeys: settlerKeys(env, demo, problems),
    custodyKeys: custodyKeys(env, demo, problems),
    tokens: env.TOKENS ?? {},
    matrix: env.MATRIX ?? {},
    licences: env.LICENCES,
    subscriptions: env.SUBSCRIPTIONS ?? {},
    rewards: env.REWARDS ?? {},
    payouts: env.PAYOUTS ?? {},
    facilitatorToken: env.FACILITATOR_TOKEN,
    royaltyRecipient: parseAddress(env.ROYALTY_RECIPIENT) ?? payTo,
    contentLicense: env.CONTENT_LICENSE,
    contactEmail: env.CONTACT_EMAIL,
    sandbox: env.SANDBOX ?? demo,
    didMethod: env.DID_METHOD,
    exposureCapMicro: env.EXPOSURE_CAP_USD ?? (demo ? 1_000_000_000_000n : 10_000_000_000n),
    trustProxy: env.TRUST_PROXY,
    metricsPublic: env.METRICS_PUBLIC,
    logLevel: env.LOG_LEVEL ?? (demo ? 'warn' : 'info'),
    erc6492Factories: factoryList(env.ERC6492_FACTORIES, problems),
    dnsServers: dnsServers(env.DNS_SERVERS, problems),
    demoHosts: demoHosts(env.DEMO_HOSTS, demo, problems),
  }
}

function networkPair(choice: 'main' | 'test'): [Network, Network] {
  const pick = (chainId: number) => knownNetworks.find((network) => network.chainId === chainId) as Network
  return choice === 'main' ? [pick(8453), pick(137)] : [pick(84532), pick(80002)]
}

function checkUrls(name: string, urls: readonly string[], problems: string[]): readonly string[] {
  for (const url of urls)
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) problems.push(`${name}: not an http(s) URL in the list`)
  return urls
}

/** A base address is an origin: scheme, host and port, nothing behind it. */
function checkOrigin(name: string, value: string | undefined, problems: string[]): string | undefined {
  if (value === undefined) return undefined
  const origin = URL.canParse(value) ? new URL(value) : undefined
  if (
    !origin ||
    !/^https?:$/.test(origin.protocol) ||
    origin.pathname !== '/' ||
    origin.search ||
    origin.hash ||
    origin.username
  )
    problems.push(`${name}: must be an origin such as https://api.example.org, without path`)
  return origin?.origin
}

/** One address for both chains, or `eip155:8453=0x…,eip155:137=0x…`. */
function custodyPair(
  value: string | undefined,
  networks: readonly [Network, Network],
  fallback: Address,
  problems: string[],
): [Address, Address] {
  if (value === undefined) return [fallback, fallback]
  const entries = value.includes('=')
    ? new Map(value.split(',').map((part) => part.split('=').map((side) => side.trim()) as [string, string]))
    : new Map(networks.map((network) => [network.caip2, value]))
  return networks.map((network) => {
    const text = entries.get(network.caip2)
    if (text === undefined || !hasChecksum(text))
      problems.push(`CUSTODY: needs an address with its EIP-55 checksum for ${network.caip2}`)
    return parseAddress(text) ?? zeroAddress
  }) as [Address, Address]
}

function facilitatorChoice(env: Environment, problems: string[]): FacilitatorChoice {
  const choice = env.FACILITATOR ?? 'local'
  if (choice === 'local') return { kind: 'local' }
  if (choice === 'cdp') {
    if (!env.CDP_API_KEY_ID) problems.push('CDP_API_KEY_ID: missing, needed by FACILITATOR=cdp')
    if (!env.CDP_API_KEY_SECRET) problems.push('CDP_API_KEY_SECRET: missing, needed by FACILITATOR=cdp')
    return { kind: 'cdp', keyId: env.CDP_API_KEY_ID ?? '', keySecret: env.CDP_API_KEY_SECRET ?? '' }
  }
  if (!/^https?:\/\//.test(choice) || !URL.canParse(choice))
    problems.push('FACILITATOR: must be local, cdp or the URL of an x402 facilitator')
  return { kind: 'url', url: choice }
}

function settlerKeys(env: Environment, demo: boolean, problems: string[]): Hex[] {
  const text =
    env.SETTLER_KEYS ??
    (env.SETTLER_KEYS_FILE === undefined ? undefined : readKeys('SETTLER_KEYS_FILE', env.SETTLER_KEYS_FILE, problems))
  if (text === undefined)
    return demo ? demoAccounts.filter((account) => account.role === 'settler').map((account) => account.privateKey) : []
  return keyList('SETTLER_KEYS', text, problems)
}

function custodyKeys(env: Environment, demo: boolean, problems: string[]): Hex[] {
  const text =
    env.CUSTODY_KEYS ??
    (env.CUSTODY_KEYS_FILE === undefined ? undefined : readKeys('CUSTODY_KEYS_FILE', env.CUSTODY_KEYS_FILE, problems))
  if (text === undefined)
    return demo && env.CUSTODY === undefined
      ? demoAccounts.filter((account) => account.role === 'custody').map((account) => account.privateKey)
      : []
  return keyList('CUSTODY_KEYS', text, problems)
}

function keyList(name: string, text: string, problems: string[]): Hex[] {
  const keys = text.split(/[\s,]+/).filter(Boolean)
  // The value itself must never reach a message.
  if (!keys.every((key) => isHex(key, 32))) problems.push(`${name}: each must be 32 bytes of hex`)
  return keys.filter((key): key is Hex => isHex(key, 32))
}

function readKeys(name: string, path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    problems.push(`${name}: cannot be read: ${path}`)
    return ''
  }
}

function factoryList(value: string | undefined, problems: string[]): Address[] {
  const parts = (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  const parsed = parts.map(parseAddress)
  if (parsed.includes(undefined)) problems.push('ERC6492_FACTORIES: must be a list of addresses')
  return parsed.filter((address): address is Address => address !== undefined)
}

function dnsServers(text: string, problems: string[]): string[] {
  const servers = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  if (new Set(servers).size < 2 || servers.some((server) => parseIp(server) === undefined))
    problems.push('DNS_SERVERS: must be the IP addresses of two or more resolvers, such as 1.1.1.1,9.9.9.9')
  return servers
}

function demoHosts(text: string | undefined, demo: boolean, problems: string[]): ReadonlyMap<string, LoopbackTarget> {
  if (text === undefined) return new Map()
  if (!demo) problems.push('DEMO_HOSTS: is for demo mode, a production node never asks its own machine')
  const parsed = parseLoopbackHosts(text)
  problems.push(...parsed.problems.map((problem) => `DEMO_HOSTS: ${problem}`))
  return parsed.hosts
}

/** A demo node brings its own database and chains, or joins those of another: half of each cannot work. */
function halfJoined(config: Config): string[] {
  const joinsChains = config.rpcUrls.every((urls) => urls.length > 0)
  const anyRpc = config.rpcUrls.some((urls) => urls.length > 0)
  if (config.databaseUrl !== undefined && !joinsChains)
    return [
      'DATABASE_URL: a demo node that joins a database also needs BASE_RPC_URLS and POLYGON_RPC_URLS of the same node',
    ]
  if (anyRpc && !joinsChains) return ['BASE_RPC_URLS and POLYGON_RPC_URLS: set both or neither']
  return []
}

function weakInProduction(env: Environment, config: Config): string[] {
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
  need('BASE_URL', 'the public address of areas A and B')
  need('API_URL', 'the public address of area C')
  need('SIGNING_KEY_FILE', 'answers are signed with it')
  need('FACILITATOR', 'cdp, local or the URL of a facilitator')
  need('CONTACT_EMAIL', 'buyers and indexers need someone to write to')
  for (const [name, url] of [
    ['BASE_URL', config.baseUrl],
    ['API_URL', config.apiUrl],
  ] as const)
    if (url !== undefined && !url.startsWith('https://')) problems.push(`${name}: must be https in production`)
  if (config.facilitator.kind === 'local' && config.settlerKeys.length === 0)
    problems.push('SETTLER_KEYS or SETTLER_KEYS_FILE: missing, needed by FACILITATOR=local')
  problems.push(...demoValues(config))
  return problems
}

/** Demo keys are public: anyone could empty what they hold. */
function demoValues(config: Config): string[] {
  const addresses = new Set(demoAccounts.map((account) => account.address.toLowerCase()))
  const keys = new Set(demoAccounts.map((account) => account.privateKey.toLowerCase()))
  const problems: string[] = []
  if (addresses.has(config.payTo)) problems.push('PAY_TO: is a demo account, whose key everybody has')
  if (config.custody.some((address) => addresses.has(address)))
    problems.push('CUSTODY: is a demo account, whose key everybody has')
  if (config.custody.includes(config.payTo)) problems.push('CUSTODY: must not be PAY_TO, others’ money is kept apart')
  if (config.settlerKeys.some((key) => keys.has(key.toLowerCase()))) problems.push('SETTLER_KEYS: contains a demo key')
  if (config.custodyKeys.some((key) => keys.has(key.toLowerCase()))) problems.push('CUSTODY_KEYS: contains a demo key')
  if ([config.payTo, ...config.custody].includes(zeroAddress))
    problems.push('PAY_TO and CUSTODY: must not be the zero address')
  return problems
}
