import { addressText } from '@assay/till/kernel/address-text'
import { z } from 'zod'
import { sourceStates } from './register/records.ts'

const time = z.string().describe('RFC 3339.')
const optionalTime = time.nullable()

export const domainInput = z.string().min(1).max(1_000).describe('The bare domain, such as example.com.')
export const walletInput = addressText.describe('Payout wallet on Base.')
export const contactInput = z.string().min(3).max(320).describe('How to reach you; never published.')

const evidence = z.strictObject({
  what: z.string(),
  url: z.string(),
  sha256: z.string().nullable(),
  checked_at: z.string().nullable(),
})
const signal = z.strictObject({
  id: z.string(),
  weight: z.number(),
  value: z.number().nullable().describe('Null is unknown: the prior is used.'),
  prior: z.number(),
  known: z.boolean(),
})
const component = z.strictObject({
  id: z.string(),
  value: z.number(),
  weight: z.number(),
  known: z.number(),
  signals: z.array(signal),
  evidence: z.array(evidence),
})
const advice = z.strictObject({ component: z.string(), signal: z.string(), advice: z.string(), points: z.number() })

const score = z.strictObject({
  value: z.number().int().min(0).max(100),
  confidence: z.number(),
  model_version: z.string(),
  computed_at: time,
  components: z.array(component),
  gate: z.strictObject({ value: z.number(), reason: z.string() }),
  evidence_count: z.number(),
  advice: z.array(advice).describe('What would raise the score most, best first.'),
  history: z.array(
    z.strictObject({
      seq: z.number(),
      score: z.number(),
      computed_at: time,
      model_version: z.string(),
      jws: z.string().describe('Signed by the node; names the digest of the row before.'),
    }),
  ),
})

export const summarySchema = z.strictObject({
  domain: z.string().describe('A-labels, lower case: the key of the source.'),
  display: z.string(),
  registrable_domain: z.string(),
  origin: z.string(),
  state: z.enum(sourceStates as [string, ...string[]]),
  state_reason: z.string(),
  cite_score: z.number().int().min(0).max(100).nullable(),
  confidence: z.number().nullable(),
  registered_at: time,
  updated_at: time,
  synthetic: z.boolean().describe('True for sites that the demo itself serves.'),
})

const prove = z.strictObject({
  dns: z.strictObject({ record: z.literal('TXT'), name: z.string(), value: z.string() }),
  file: z.strictObject({
    url: z.string(),
    content_type: z.literal('application/json'),
    content: z.record(z.string(), z.unknown()),
  }),
  meta: z.strictObject({ url: z.string(), html: z.string() }),
})

const claim = z.strictObject({
  id: z.string(),
  state: z.string(),
  wallet: z.string(),
  token_expires_at: optionalTime,
  takes_over_at: optionalTime,
  prove,
  wallet_proven: z.boolean(),
  wallet_statement: z.record(z.string(), z.unknown()).describe('EIP-712 typed data for the payout wallet to sign.'),
  checked_at: optionalTime,
  report: z.record(z.string(), z.unknown()).nullable(),
})

export const sourceSchema = summarySchema.extend({
  homograph: z.strictObject({ kind: z.string(), looks_like: z.string().nullable() }).optional(),
  next_steps: z.array(
    z.strictObject({ step: z.string(), state: z.enum(['done', 'missing', 'waiting']), fix: z.string() }),
  ),
  proof: z
    .strictObject({
      method: z.string().nullable(),
      proven_at: optionalTime,
      next_check_at: optionalTime,
      failures: z.number(),
      evidence: z.record(z.string(), z.unknown()).nullable(),
    })
    .nullable(),
  payout: z.strictObject({
    state: z.enum(['unproven', 'awaiting_wallet_signature', 'active', 'held']),
    wallet: z.string().nullable(),
  }),
  claim: claim.nullable().describe('What this claimant has to publish; null unless the request names a wallet.'),
  score: score.nullable(),
  crawl: z.strictObject({
    pages_indexed: z.number(),
    pages_known: z.number(),
    finished_at: optionalTime,
    problem: z.string().nullable(),
    problems: z
      .array(z.object({ problem: z.string(), pages: z.int(), example: z.string() }))
      .describe('Why pages could not be read, the most frequent reason first.'),
    robots: z.string(),
    sitemap: z.string(),
  }),
  terms: z
    .strictObject({
      offered: z.int(),
      link_only: z.int(),
      not_indexed: z.int(),
      reasons: z.array(z.strictObject({ reason: z.string(), pages: z.int(), example: z.string() })),
    })
    .describe('How many pages may be found and quoted, and what keeps the others.'),
  licence: z
    .strictObject({
      kind: z.string(),
      name: z.string().nullable(),
      url: z.string(),
      permits: z.array(z.string()),
      prohibits: z.array(z.string()),
      payment: z.array(z.string()),
    })
    .nullable(),
  earnings: z.strictObject({ citations: z.number(), earned_micro: z.string(), paid_micro: z.string() }),
  disputes: z.array(
    z.strictObject({
      id: z.string(),
      kind: z.string(),
      state: z.string(),
      opened_at: time,
      notice_until: optionalTime,
    }),
  ),
  links: z.strictObject({ self: z.string(), verify: z.string() }),
})

export const listSchema = z.strictObject({ data: z.array(summarySchema), next_cursor: z.string().nullable() })

export const disputeSchema = z.strictObject({
  id: z.string(),
  domain: z.string(),
  kind: z.string(),
  state: z.literal('received'),
  opened_at: time,
  note: z.string(),
})
