import { addressText } from '@assay/till/kernel/address-text'
import { z } from 'zod'
import { powerNames } from './evaluate/types.ts'

/** Shapes of area A's answers, for OpenAPI and the SDK. Unknown facts are `{ unknown: reason }`. */
export const addressParams = z.strictObject({
  address: addressText.describe('The token, in any case.'),
})

export const blockNumber = z.string().regex(/^(0|[1-9][0-9]{0,14})$/, 'must be a block number')

const unknown = z.strictObject({ unknown: z.string().describe('Why it is not known.') })
const orUnknown = <T extends z.ZodType>(schema: T) => z.union([schema, unknown])
const party = z.strictObject({
  account: z.string(),
  how: z.string(),
  alone: z.boolean().optional().describe('Of policies: whether this party can do it without any other.'),
  label: z.looseObject({ kind: z.string(), threshold: z.number().optional(), owners: z.array(z.string()).optional() }),
})

export const verdict = z.enum(['LOCKED', 'PARTIALLY_CONTROLLED', 'ISSUER_CONTROLLED', 'UNKNOWN'])
export const level = z.enum(['impossible', 'latent', 'armed', 'unknown'])
export const power = z.strictObject({
  state: z.enum(['impossible', 'latent', 'armed', 'exercised', 'unknown']),
  now: level,
  exercised: z.int().describe('How often it was used, as far as logs and state show.'),
  who: z.array(party).describe('Who can use it now; a check names at most 50, a report all.'),
  who_count: z.int(),
  could_become: z.array(party).describe('Who else has a part in bringing it about; a check names at most 50.'),
  could_become_count: z.int(),
  why: z.string(),
})
export const powers = z.strictObject(Object.fromEntries(powerNames.map((name) => [name, power])))
export const flag = z.strictObject({
  code: z.string(),
  severity: z.enum(['info', 'notice', 'warning', 'critical']),
  sentence: z.string(),
  facts: z.array(z.string()),
})
export const block = z.strictObject({ number: z.string(), hash: z.string(), at: z.string() })
export const fork = z.strictObject({
  name: orUnknown(z.string()),
  identified_by: z.strictObject({ seize_role: z.string(), inverted_policy_id: z.string() }),
  scheduled: z.string().nullable(),
  mismatch: z.boolean(),
})
export const completeness = z.strictObject({
  complete: z.boolean(),
  missing: z.array(z.strictObject({ code: z.string(), detail: z.string() })),
  admin_set: z.enum(['proven', 'unproven']),
  admin_count: orUnknown(z.string()),
  logs: z.strictObject({
    from_block: z.string(),
    to_block: z.string(),
    count: z.int(),
    gaps: z.array(z.strictObject({ from_block: z.string(), to_block: z.string(), reason: z.string() })),
  }),
})
export const token = z.strictObject({
  name: orUnknown(z.string()),
  symbol: orUnknown(z.string()),
  decimals: orUnknown(z.int()),
  variant: z.string(),
  total_supply: orUnknown(z.string()),
  supply_cap: orUnknown(z.string()).describe('In base units, or "none".'),
})
export const reading = z.strictObject({
  providers: z.array(z.string()),
  quorum: z.int(),
  round_trips: z.record(z.string(), z.int()),
  index_to_block: z
    .string()
    .nullable()
    .describe('History up to this block came from the background index; null where it has not read this token yet.'),
})

export const unreachable = z
  .array(
    z.strictObject({
      account: z.string(),
      reason: z.enum(['zero_address', 'this_token', 'another_token', 'factory', 'registry']),
      holds: z.array(z.string()).describe('Roles and policies.'),
    }),
  )
  .describe('Accounts that hold something and can never call.')

const capability = z.strictObject({
  answer: z.enum(['yes', 'later', 'no', 'unknown']).describe('`later`: not now, but somebody can bring it about.'),
  why: z.string(),
})
export const walletView = z.strictObject({
  wallet: z.string(),
  balance: orUnknown(z.string()),
  hold: capability,
  send: capability,
  receive: capability,
  be_frozen: capability,
  be_seized: capability,
})

export const checkOutput = z.strictObject({
  address: z.string(),
  network: z.string(),
  synthetic: z.literal(true).optional().describe('Demo data.'),
  verdict,
  summary: z.string(),
  complete: z.boolean(),
  token,
  powers,
  flags: z.array(flag),
  unreachable,
  block,
  fork,
  completeness,
  valid_until_at: z.string(),
  reading,
  report: z.strictObject({ url: z.string(), price_usd: z.string() }),
  wallet: walletView.optional(),
})
