import { type Address, hasChecksum, parseAddress } from '@assay/protocol/address'
import { erc20Asset } from '@assay/protocol/asset'
import { type Micro, parseUsd } from '@assay/protocol/money'
import type { UsdcAsset } from '@assay/protocol/networks'
import {
  dollarProblems,
  furtherDollar,
  httpEndpoint,
  knownNetworks,
  type Network,
  type RpcEndpoint,
} from './chain/index.ts'
import type { KeySource } from './chain/wallet/index.ts'
import type { Interceptors, SalePart } from './compose/index.ts'
import type { Scheme } from './contract/scheme.ts'
import type { Payees } from './contract/terms.ts'
import {
  type FacilitatorChoice,
  type FacilitatorOption,
  facilitatorOptions,
  findChoiceProblems,
  optionOf,
} from './facilitators/index.ts'
import type { Clock } from './kernel/clock.ts'
import { ConfigError } from './kernel/config-error.ts'
import type { Log } from './kernel/log.ts'
import type { Metrics } from './kernel/metrics.ts'
import { isPrivateUrl } from './kernel/private-url.ts'
import type { Rng } from './kernel/random.ts'
import { type PayoutPolicy, parsePayoutPolicy } from './payouts/index.ts'
import type { ChannelPolicy } from './schemes/batch-settlement/index.ts'
import { defaultHandlerMs } from './selling/index.ts'
import { minAnswerDays, minPaymentDays, type Retention } from './store/partitions.ts'
import { findKeyProblems, readWallet } from './wallet-options.ts'

/** An embedded PostgreSQL in a folder: `embedded()` of `@assay/till/embedded`. */
export type EmbeddedDatabase = { embedded: true; folder: string; port?: number }

export type NetworkOption = {
  /** Where buyers pay, with its EIP-55 checksum. */
  payTo: string | undefined
  /** JSON-RPC endpoints; two or more of different operators, so that one alone cannot lie. */
  rpc: string | readonly (string | RpcEndpoint)[] | undefined
  /** A wallet whose key the till has: refunds are paid from it. */
  custody?: string
  /** A chain that the till does not know by name, or another asset on it. */
  network?: Network
  /** Dollars with 6 decimals that are taken beside USDC, by routes that name them: `networks: ['base', 'base/USDT']`. */
  dollars?: readonly DollarOption[]
}

export type DollarOption = {
  /** Address of the token, with its EIP-55 checksum. */
  address: string
  /** What routes and people call it. */
  symbol: string
  /** Its EIP-712 domain, where it has EIP-3009. Without both it is paid by Permit2 only, and the till cannot pay it out. */
  name?: string
  version?: string
}

export type TillOptions = {
  /** URL of a PostgreSQL 15 or later, or `embedded()`. */
  database: string | EmbeddedDatabase | undefined
  /** The same server past the transaction pooler that `database` names. */
  databaseDirect?: string
  /**
   * `database` names a transaction pooler and nothing leads past it: no locks of a session, no notifications, no named
   * statements. `till.on('sale' | 'refund')` is not available then.
   */
  databasePooled?: boolean
  /** By name (`base`, `polygon`, `base-sepolia`, `polygon-amoy`) or CAIP-2 id. */
  networks: Readonly<Record<string, NetworkOption>>
  /** Who settles, such as `local({ keys })`, or several in the order in which they are tried. */
  facilitator: FacilitatorOption | readonly FacilitatorOption[] | undefined
  /** Origin under which buyers reach the routes: resource URLs and signatures name it, never the Host header. */
  publicUrl: string | undefined
  /** Default: the host of `publicUrl`. */
  name?: string
  /** Shown in the documents, for buyers who want to reach the seller. */
  contactEmail?: string
  /**
   * `payTo` or `custody` differ from those in the database on purpose: accepted at this start, with the reason in its audit
   * log. The old addresses stay the till's own, so what still arrives there is posted.
   */
  payeesChanged?: {
    /** The reason, kept in the log. */
    reason: string
    /** Who decided it. */
    by: string
  }
  /** Nobody but this till is paid at `payTo`: authorizations that nobody claimed become their signer's credit instead of waiting for review. */
  payToExclusive?: boolean
  /**
   * `here` runs jobs in this process, in one instance at a time. `cron`: somebody calls `till.runJobs()`. Without a round
   * within `jobsSecondsMax` nothing is sold. Default: here.
   */
  jobs?: 'here' | 'cron'
  /** Default 60. */
  jobsSecondsMax?: number
  /** How long the parts of a sale may take. */
  limits?: {
    /** Longest a handler may take; default 15. */
    prepareSeconds?: number
    /** Longest a settlement is waited for; default 30. */
    settleSeconds?: number
    /** Longest the platform lets a request take in all. Must leave room for the two above. */
    platformSeconds?: number
  }
  /** Decimal USD that may be served and not yet final. Default 10000. */
  exposureCap?: string
  /** Days after which stored answers (default 35, at least 2) and payments (default: never, at least 400) are dropped. */
  retention?: Retention
  /** A file with addresses that are not served: one a line, or the SDN list of OFAC (CSV or XML). Read again when it changes. */
  screeningList?: string
  /** Of answers and receipts; default: a key kept in the database. */
  signingKeyFile?: string
  /** Keys of the wallets named as `custody`: private keys, or signers that keep them elsewhere. */
  custodyKeys?: readonly KeySource[]
  /** Wallets that send refunds, where the facilitator is not `local`. */
  settlerKeys?: readonly KeySource[]
  /** What is paid out of custody: least amount, daily limits, what waits for a person. What is left out has its default. */
  payouts?: Partial<PayoutPolicy>
  /** Accepts weak settings: plain HTTP, embedded chains, a database that may lose commits. Data of both never mix. */
  demo?: boolean
  /** Hooks inside the transaction of a sale, jobs and shares owed to others. */
  parts?: readonly SalePart[]
  /** False to take no credentials of the Payment authentication scheme (MPP). Default: taken beside x402. */
  mpp?: boolean
  /** Sells cheap calls through payment channels (`batch-settlement`), within these limits. Default: not sold. */
  channels?: Partial<ChannelPolicy>
  /** Ways to pay beside `exact`. */
  schemes?: readonly Scheme[]
  /** Where log lines go. Default: standard error. */
  log?: Log
  /** Receives counts, gauges and durations. Default: nobody. */
  metrics?: Metrics
  /** Time, for tests. */
  clock?: Clock
  /** Random bytes, for tests. */
  rng?: Rng
  /** Puts something between the till and its outside world: fault injection, recording. */
  intercept?: Interceptors
}

export type TillSettings = {
  mode: 'demo' | 'production'
  home: string | undefined
  databaseUrl: string | undefined
  databaseUrlDirect: string | undefined
  databasePort?: number
  databasePooled?: boolean
  origin: string
  name: string
  networks: readonly Network[]
  endpoints: ReadonlyMap<string, readonly RpcEndpoint[]>
  /** CAIP-2 by the name that the options use. */
  networkIds: ReadonlyMap<string, string>
  payees: Payees
  facilitators: readonly FacilitatorChoice[]
  settlerKeys: readonly KeySource[]
  custodyKeys: readonly KeySource[]
  payouts: PayoutPolicy
  exposureCapMicro: Micro
  prepareMs: number
  settleMs: number
  jobsMsMax: number
  retention: Retention
  signingKeyFile: string | undefined
  erc6492Factories: readonly Address[]
}

/** Checks all options and reports everything that is wrong with them at once. */
export function readTillOptions(options: TillOptions): TillSettings {
  const problems: string[] = [...findUnknownOptions(options)]
  const demo = options.demo === true
  const { origin, host } = readPublicUrl(options.publicUrl, demo, problems)
  const chains = readNetworks(options.networks, demo, problems)
  const facilitators = readFacilitators(options.facilitator, demo, problems)
  const { custodyKeys = [], settlerKeys = [] } = options
  problems.push(...findKeyProblems('custodyKeys', custodyKeys, demo))
  problems.push(...findKeyProblems('settlerKeys', settlerKeys, demo))
  const exposureCapMicro = parseUsd(options.exposureCap ?? '10000')
  if (!exposureCapMicro) problems.push(`exposureCap: must be decimal USD above zero, such as '10000'`)
  if (!['here', 'cron'].includes(options.jobs ?? 'here')) problems.push(`jobs: must be 'here' or 'cron'`)
  const jobsSecondsMax = options.jobsSecondsMax ?? 60
  if (!(jobsSecondsMax >= 10 && jobsSecondsMax <= 600)) problems.push('jobsSecondsMax: must be between 10 and 600')
  const retention = options.retention ?? {}
  if ((retention.answerDays ?? minAnswerDays) < minAnswerDays)
    problems.push(`retention.answerDays: must be at least ${minAnswerDays}`)
  if ((retention.paymentDays ?? minPaymentDays) < minPaymentDays)
    problems.push(`retention.paymentDays: must be at least ${minPaymentDays}`)
  const settings: TillSettings = {
    mode: demo ? 'demo' : 'production',
    ...readDatabase(options, demo, problems),
    ...{ origin, name: options.name ?? host, ...chains },
    facilitators: facilitators.map(({ choice }) => choice),
    settlerKeys: [...facilitators.flatMap((one) => one.settlerKeys ?? []), ...settlerKeys],
    custodyKeys,
    payouts: { ...parsePayoutPolicy(), ...options.payouts },
    exposureCapMicro: exposureCapMicro ?? 0n,
    ...readLimits(options.limits ?? {}, problems),
    jobsMsMax: jobsSecondsMax * 1000,
    retention,
    signingKeyFile: options.signingKeyFile,
    erc6492Factories: [],
  }
  const hasKeys = settings.settlerKeys.length > 0
  for (const choice of settings.facilitators)
    problems.push(...findChoiceProblems(choice, { hasKeys, demo }).map((problem) => `facilitator: ${problem}`))
  if (problems.length > 0) throw new ConfigError(problems)
  return settings
}

/** Every name, so that one that is misspelled in plain JavaScript is reported and not passed over. */
const optionNames: Record<keyof TillOptions, true> = {
  ...{ database: true, databaseDirect: true, databasePooled: true, networks: true, facilitator: true, publicUrl: true },
  ...{ name: true, contactEmail: true, payeesChanged: true, payToExclusive: true, jobs: true, jobsSecondsMax: true },
  ...{ limits: true, exposureCap: true, retention: true, screeningList: true, signingKeyFile: true, demo: true },
  ...{ custodyKeys: true, settlerKeys: true, payouts: true, parts: true, mpp: true, schemes: true, log: true },
  ...{ channels: true, metrics: true, clock: true, rng: true, intercept: true },
}

const findUnknownOptions = (options: TillOptions): string[] =>
  Object.keys(options)
    .filter((name) => !Object.hasOwn(optionNames, name))
    .map((name) => `${name}: is not an option of createTill`)

function readFacilitators(given: TillOptions['facilitator'], demo: boolean, problems: string[]): FacilitatorOption[] {
  const oneOf = `one of ${facilitatorOptions.join(', ')}`
  const list: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given]
  if (list.length === 0) problems.push(`facilitator: missing, ${oneOf}`)
  const made = list.filter(
    (one): one is FacilitatorOption => typeof one === 'object' && one !== null && 'choice' in one,
  )
  if (made.length < list.length) problems.push(`facilitator: must be ${oneOf}, or a list of these`)
  for (const { choice, settlerKeys = [] } of made)
    problems.push(...findKeyProblems(`facilitator: ${optionOf(choice)}`, settlerKeys, demo))
  return made
}

function readDatabase(options: TillOptions, demo: boolean, problems: string[]) {
  const { database, databaseDirect, databasePooled = false } = options
  const none = { home: undefined, databaseUrl: undefined, databaseUrlDirect: databaseDirect }
  if (database === undefined || database === '') {
    problems.push('database: missing, the URL of a PostgreSQL server, or embedded() of @assay/till/embedded')
    return none
  }
  if (typeof database === 'string') {
    if (!/^postgres(?:ql)?:\/\//.test(database)) problems.push('database: must be a postgres:// URL')
    if (databasePooled && databaseDirect !== undefined)
      problems.push('databasePooled: leave it out, databaseDirect leads past the pooler')
    return { ...none, databaseUrl: database, databasePooled }
  }
  if (!demo) problems.push('database: embedded() is for a first try, set demo: true with it or give a URL')
  if (databasePooled) problems.push('databasePooled: embedded() has no pooler')
  const { folder, port } = database
  return { ...none, home: folder, ...(port === undefined ? {} : { databasePort: port }) }
}

function readPublicUrl(text: string | undefined, demo: boolean, problems: string[]): { origin: string; host: string } {
  const bad = (problem: string) => {
    problems.push(`publicUrl: ${problem}`)
    return { origin: '', host: '' }
  }
  if (text === undefined || text === '') return bad('missing, the origin under which buyers reach the routes')
  if (!URL.canParse(text)) return bad('must be a URL such as https://api.example.com')
  const url = new URL(text)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return bad('must be an origin without a path; a mount path belongs into the path of each route')
  if (!demo && !isPrivateUrl(url)) return bad('must be https')
  return { origin: url.origin, host: url.host }
}

function readNetworks(given: TillOptions['networks'] | undefined, demo: boolean, problems: string[]) {
  const networks: Network[] = []
  const endpoints = new Map<string, readonly RpcEndpoint[]>()
  const networkIds = new Map<string, string>()
  const pay_to: Record<string, Address> = {}
  const custody: Record<string, Address> = {}
  for (const [name, option] of Object.entries(given ?? {})) {
    if (typeof option !== 'object' || option === null) {
      problems.push(`networks.${name}: must be { payTo, rpc }`)
      continue
    }
    const network = option.network ?? knownNetworks.find((one) => one.name === name || one.caip2 === name)
    if (!network) {
      problems.push(
        `networks.${name}: is not known; one of ${knownNetworks.map((one) => one.name).join(', ')}, or give network`,
      )
      continue
    }
    const { caip2 } = network
    const dollars = readDollars(`networks.${name}.dollars`, option.dollars ?? [], network, problems)
    networks.push({ ...network, dollars })
    networkIds.set(name, caip2).set(caip2, caip2)
    for (const { address, symbol } of dollars) {
      const asset = erc20Asset(caip2, address)
      networkIds.set(`${name}/${symbol}`, asset).set(asset, asset)
    }
    const payTo = readWallet(`networks.${name}.payTo`, option.payTo, { ...network, dollars }, demo, problems)
    if (payTo !== undefined) pay_to[caip2] = payTo
    const kept =
      option.custody === undefined
        ? undefined
        : readWallet(`networks.${name}.custody`, option.custody, network, demo, problems)
    if (kept !== undefined) custody[caip2] = kept
    if (kept !== undefined && kept === payTo)
      problems.push(`networks.${name}.custody: must not be payTo, what is owed to others is kept apart`)
    endpoints.set(caip2, readEndpoints(name, option.rpc, demo, problems))
  }
  if (Object.keys(given ?? {}).length === 0)
    problems.push('networks: at least one is needed, such as { base: { payTo, rpc } }')
  return { networks, endpoints, networkIds, payees: { pay_to, custody } }
}

function readDollars(
  where: string,
  given: readonly DollarOption[],
  { usdc }: Network,
  problems: string[],
): readonly UsdcAsset[] {
  const dollars = given.flatMap(({ address, ...named }): UsdcAsset[] => {
    const token = hasChecksum(address) ? parseAddress(address) : undefined
    if (token === undefined) problems.push(`${where}: ${address} must be an address with its EIP-55 checksum`)
    return token === undefined ? [] : [furtherDollar({ address: token, ...named })]
  })
  problems.push(...dollarProblems({ usdc, dollars }).map((problem) => `${where}: ${problem}`))
  return dollars
}

function readEndpoints(name: string, rpc: NetworkOption['rpc'], demo: boolean, problems: string[]): RpcEndpoint[] {
  const list = typeof rpc === 'string' ? rpc.split(',').map((url) => url.trim()) : [...(rpc ?? [])]
  if (list.length === 0) problems.push(`networks.${name}.rpc: missing, the URL of a JSON-RPC endpoint of that chain`)
  return list.flatMap((one) => {
    if (typeof one !== 'string') return [one]
    if (URL.canParse(one) && (demo || isPrivateUrl(new URL(one)))) return [httpEndpoint(one)]
    problems.push(`networks.${name}.rpc: each must be an https URL`)
    return []
  })
}

/** Reading the request, the claim and the answer's way out, beside preparing and settling. */
const marginMs = 2_000

function readLimits(limits: NonNullable<TillOptions['limits']>, problems: string[]) {
  const { prepareSeconds = defaultHandlerMs / 1000, settleSeconds = 30, platformSeconds } = limits
  if (!(prepareSeconds > 0 && prepareSeconds <= 60)) problems.push('limits.prepareSeconds: must be above 0, 60 at most')
  if (!(settleSeconds >= 3 && settleSeconds <= 60)) problems.push('limits.settleSeconds: must be between 3 and 60')
  const [prepareMs, settleMs] = [prepareSeconds * 1000, settleSeconds * 1000]
  if (platformSeconds !== undefined && prepareMs + settleMs + marginMs > platformSeconds * 1000)
    problems.push(
      `limits: prepareSeconds and settleSeconds take ${prepareSeconds + settleSeconds} s and ${marginMs / 1000} s more, above the ${platformSeconds} s of the platform; lower them`,
    )
  return { prepareMs, settleMs }
}
