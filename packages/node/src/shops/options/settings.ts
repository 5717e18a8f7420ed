import { type Address, parseAddress } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { z } from 'zod'
import { parseMembers, SettingsError, usd, type Variables } from '../shop-settings.ts'
import { premiumHighestMicro, premiumLowestMicro } from './domain/contract-terms.ts'
import type { ExpiryRule } from './domain/expiries.ts'

/** An operator writes this sentence into `OPTIONS` to say that the notice was read. */
export const legalAcknowledgement =
  'I have read the legal notice in docs/options.md and I am permitted to run this exchange'

export const optionsVariables = {
  OPTIONS: {
    kind: 'json',
    default: '{}',
    shown: '`{}`, on in demo',
    description:
      'JSON object with settings of the options exchange. Off in production until `enabled`, `acknowledge` and `allowlist` turn it on; docs/options.md lists them.',
    // The address that is asked about wallets may hold a key.
    secret: true,
  },
} as const satisfies Variables

export type OptionSettings = {
  /** Who may buy and write; `anyone` in demo mode only. */
  eligible: ReadonlySet<Address> | 'anyone'
  /** Asked about wallets that are not on the list. */
  eligibilityUrl: string | undefined
  /** How much faster than the calendar the model's time runs: a demonstration plays a month in minutes. */
  timeScale: number
  halfLifeMs: number
  /** Distance of the ticks of an index. */
  tickMs: number
  windowMs: number
  /** Trading ends this long before the expiry, so that nobody buys what the window has already decided. */
  cutoffMs: number
  extensionsMax: number
  agentsMin: number
  /** After this long without a published bucket the missing ones count as not observed. */
  stallMs: number
  expiries: ExpiryRule
  strikesAround: readonly number[]
  targetMicro: Micro
  clustersMax: number
  /** Ticks that an estimate of volatility looks back on. */
  volatilityTicks: number
  /** Money that is gone when one more agent counts in the index. */
  agentMicro: Micro
  /** Whether that is the operator's word; otherwise it follows from what the stream asks of an agent. */
  agentMicroIsGiven: boolean
  /** Share of the ticks in a settlement's window that must have had enough agents; below it nothing is listed. */
  publishedShare: number
  quantityMax: number
  contractsPerWallet: number
  vaultMicro: Micro
  reservationMs: number
  quoteMs: number
  keepMs: number
}

/** A search of one agent. */
export const matchMicro: Micro = 1_000n
/** Nobody real trades on a demo, and its few invented agents cost nothing: it plays with a price of an agent. */
const demoAgentMicro: Micro = 50_000_000_000n

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const wallet = z.string().transform((text, context) => {
  const address = parseAddress(text)
  if (!address) context.addIssue({ code: 'custom', message: 'must be an address' })
  return address ?? ('0x' as Address)
})
const whole = (min: number, max: number) => z.number().int().min(min).max(max)

const schema = (demo: boolean) =>
  z.strictObject({
    enabled: z.boolean().default(demo),
    acknowledge: z.string().optional(),
    allowlist: z.array(wallet).max(10_000).default([]),
    eligibility_url: z
      .url({ protocol: demo ? /^https?$/ : /^https$/, error: 'must be an https URL' })
      .max(1_000)
      .optional(),
    vault_usd: usd.default(demo ? 100_000_000_000n : 0n),
    premium_usd: usd
      .refine((micro) => micro >= premiumLowestMicro && micro <= premiumHighestMicro, 'must be 50 to 120')
      .default(demo ? 100_000_000n : 80_000_000n),
    clusters_max: whole(1, 1_000).default(demo ? 6 : 20),
    agents_min: whole(2, 10_000).default(demo ? 5 : 10),
    agent_cost_usd: usd.optional(),
    contracts_per_wallet: whole(1, 1_000_000).default(demo ? 100 : 20),
    expiry_seconds: whole(60, 86_400)
      .refine((seconds) => seconds % 60 === 0, 'must be whole minutes')
      .optional(),
    window_seconds: whole(1, 86_400).optional(),
    tick_seconds: whole(1, 86_400).optional(),
    half_life_seconds: whole(1, 86_400).optional(),
    cutoff_seconds: whole(0, 604_800).optional(),
  })
const demoSchema = schema(true)
const productionSchema = schema(false)

/**
 * From the JSON of `OPTIONS`; undefined when the exchange is off. In production it is off unless the operator turns it
 * on, acknowledges the legal notice and says who may trade.
 */
export function parseOptionSettings(given: unknown, demo: boolean): OptionSettings | undefined {
  const data = parseMembers('OPTIONS', demo ? demoSchema : productionSchema, given)
  if (!data.enabled) return undefined
  if (!demo) requireProduction(data)
  const seconds = (value: number | undefined, fallback: number) => (value === undefined ? fallback : value * 1000)
  const windowMs = seconds(data.window_seconds, demo ? minute : day)
  const expiryMs = seconds(data.expiry_seconds, 2 * minute)
  return {
    eligible:
      demo && data.allowlist.length === 0 && data.eligibility_url === undefined ? 'anyone' : new Set(data.allowlist),
    eligibilityUrl: data.eligibility_url,
    // Five minutes play a month.
    timeScale: demo ? (30 * day) / (5 * minute) : 1,
    tickMs: seconds(data.tick_seconds, demo ? minute / 2 : hour),
    halfLifeMs: seconds(data.half_life_seconds, demo ? 2 * minute : 6 * hour),
    windowMs,
    cutoffMs: seconds(data.cutoff_seconds, demo ? minute / 2 : windowMs),
    extensionsMax: 2,
    agentsMin: data.agents_min,
    stallMs: demo ? 2 * minute : day,
    expiries: demo ? { kind: 'every', everyMs: expiryMs, count: 3 } : { kind: 'fridays', count: 4 },
    strikesAround: [-10, -5, 0, 5, 10],
    targetMicro: data.premium_usd,
    clustersMax: data.clusters_max,
    volatilityTicks: 200,
    agentMicro: data.agent_cost_usd ?? (demo ? demoAgentMicro : matchMicro),
    agentMicroIsGiven: demo || data.agent_cost_usd !== undefined,
    publishedShare: demo ? 0.5 : 1,
    quantityMax: 10,
    contractsPerWallet: data.contracts_per_wallet,
    vaultMicro: data.vault_usd,
    reservationMs: 2 * minute,
    quoteMs: minute,
    keepMs: demo ? 2 * day : 400 * day,
  }
}

/** When the last listed series is settled at the latest, counted from its listing. */
export function longestLifeMs({ expiries, extensionsMax, windowMs }: OptionSettings): number {
  const stepMs = expiries.kind === 'fridays' ? 7 * day : expiries.everyMs
  return expiries.count * stepMs + extensionsMax * windowMs
}

type Production = {
  acknowledge?: string | undefined
  allowlist: readonly unknown[]
  eligibility_url?: string | undefined
}

function requireProduction(data: Production) {
  const problems: string[] = []
  if (data.acknowledge !== legalAcknowledgement)
    problems.push(`OPTIONS: acknowledge must be the sentence "${legalAcknowledgement}"`)
  if (data.allowlist.length === 0 && data.eligibility_url === undefined)
    problems.push('OPTIONS: allowlist or eligibility_url must say who may trade')
  if (problems.length > 0) throw new SettingsError(problems)
}
