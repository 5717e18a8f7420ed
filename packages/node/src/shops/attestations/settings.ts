import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { demoMover } from '@assay/till/devnet/accounts'
import { z } from 'zod'
import { readKeys } from '../../http/index.ts'
import { type NodeFacts, parseMembers, SettingsError, usdAboveZero, type Variables } from '../shop-settings.ts'
import type { AttestSettings } from './attest/deps.ts'

/** Also for shops that pay creators by the same rules. */
export const marketVariables = {
  CITATIONS: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object with settings of the citation market: roots, thresholds, windows; docs/citations.md lists them.',
    secret: false,
  },
} as const satisfies Variables

export const attestationsVariables = {
  ...marketVariables,
  MOVER_KEY: {
    kind: 'text',
    shown: 'demo mover',
    description:
      "Private key that signs moves of creators' money from lost wallets; it holds nothing and needs no gas. Not a key of `CUSTODY_KEYS` or `SETTLER_KEYS`. Without it only a wallet itself can redirect. Part of the distributor contract: another key means [another contract](citations.md#another-distributor).",
    secret: true,
  },
  MOVER_KEY_FILE: {
    kind: 'text',
    description: 'A file with the same, instead of the environment.',
    secret: true,
  },
} as const satisfies Variables

/** Must differ from the node's other keys: a stolen custody key must not be able to move what was paid out of custody. */
export function parseMoverKey(
  text: string | undefined,
  file: string | undefined,
  { demo, ownKeys }: Pick<NodeFacts, 'demo' | 'ownKeys'>,
): Hex | undefined {
  const problems: string[] = []
  const keys = readKeys('MOVER_KEY', { text, file }, problems)
  if (keys === undefined) return demo ? demoMover.privateKey : undefined
  const own = new Set(ownKeys.map((key) => key.toLowerCase()))
  if (keys.length !== 1) problems.push('MOVER_KEY: must be one key')
  if (keys.some((key) => own.has(key.toLowerCase())))
    problems.push('MOVER_KEY: must not be a key of CUSTODY_KEYS or SETTLER_KEYS')
  if (!demo && keys.some((key) => key.toLowerCase() === demoMover.privateKey)) problems.push('MOVER_KEY: is a demo key')
  if (problems.length > 0) throw new SettingsError(problems)
  return keys[0]
}

export type CreatorSettings = {
  /** Between two roots on a chain, at least. */
  rootMs: number
  /** A root is not made for less than this. */
  rootMinimumMicro: Micro
  /** A creator is in a root with this much at least, or once something has waited so long. */
  leafMinimumMicro: Micro
  leafWaitMs: number
  /** What a creator has on chain is sent to it from here on, unless it says otherwise. */
  thresholdMicro: Micro
  waitMs: number
  releaseMs: number
}

export type MarketSettings = {
  attest: AttestSettings
  creators: CreatorSettings
  /** Fixed in the contract that pays creators. */
  delays: { claimDelaySeconds: number; moveDelaySeconds: number }
  funding: {
    /** How far back the money of a wallet is followed when it is first seen. */
    lookBackMs: number
    /** Exchanges, bridges and the like that the operator knows. */
    publicFunders: readonly Address[]
  }
}

const daySeconds = 86_400
const days = z.number().min(0).max(3_650)
const address = z.string().transform((text, context) => {
  const parsed = parseAddress(text)
  if (parsed === undefined) context.addIssue({ code: 'custom', message: 'must be an address' })
  return parsed as Address
})

const schema = (demo: boolean) =>
  z.strictObject({
    snapshot_minutes: z.number().min(0).max(1_440).default(60),
    wait_days: days.default(180),
    release_days: days.default(7),
    challenge_days: days.default(7),
    root_seconds: z
      .number()
      .min(1)
      .max(86_400)
      .default(demo ? 5 : 600),
    root_minimum_usd: usdAboveZero.default(demo ? 1n : 1_000_000n),
    leaf_minimum_usd: usdAboveZero.default(demo ? 1n : 50_000n),
    leaf_hours: z.number().min(0).max(720).default(24),
    claim_delay_seconds: z
      .int()
      .min(0)
      .max(30 * daySeconds)
      .default(demo ? 2 : daySeconds),
    move_delay_seconds: z
      .int()
      .min(1)
      .max(365 * daySeconds)
      .default(demo ? 60 : 14 * daySeconds),
    threshold_usd: usdAboveZero.default(500_000n),
    funding_days: z.number().min(0).max(365).default(7),
    public_funders: z.array(address).max(1_000).default([]),
  })
const demoSchema = schema(true)
const productionSchema = schema(false)

/** From the JSON of `CITATIONS`. */
export function parseMarketSettings(given: unknown, demo: boolean): MarketSettings {
  const data = parseMembers('CITATIONS', demo ? demoSchema : productionSchema, given)
  const day = daySeconds * 1000
  const windows = { waitMs: data.wait_days * day, releaseMs: data.release_days * day }
  return {
    attest: {
      ...windows,
      snapshotMs: data.snapshot_minutes * 60_000,
      challengeMs: data.challenge_days * day,
    },
    creators: {
      ...windows,
      rootMs: data.root_seconds * 1000,
      rootMinimumMicro: data.root_minimum_usd,
      leafMinimumMicro: data.leaf_minimum_usd,
      leafWaitMs: data.leaf_hours * 3_600_000,
      thresholdMicro: data.threshold_usd,
    },
    delays: { claimDelaySeconds: data.claim_delay_seconds, moveDelaySeconds: data.move_delay_seconds },
    funding: { lookBackMs: data.funding_days * day, publicFunders: data.public_funders },
  }
}
