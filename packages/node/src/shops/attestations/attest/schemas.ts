import { addressText } from '@assay/till/kernel/address-text'
import { z } from 'zod'
import { isStorable } from '../../sources/page/index.ts'

export const signatureText = z.string().regex(/^0x(?:[0-9a-fA-F]{2}){65,4096}$/, 'must be a signature in hex')
export const attestationId = z
  .string()
  .regex(/^(?:att|clm)_[0-9a-hjkmnp-tv-z]{26}$/, 'must be the id of an attestation')
const words = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => text.trim() !== '' && isStorable(text), 'must be text')

export const attestBody = z.strictObject({
  source_url: z.string().min(1).max(2_048).describe('The page that is cited.'),
  agent_wallet: addressText.describe('The citing wallet: the payer, or the wallet that signed agent_signature.'),
  quote: words(5_000).optional().describe('Words that must be on the page; searched for, never stored.'),
  claim: words(10_000).optional().describe('What the citation supports; only its digest is kept.'),
  query_id: z
    .string()
    .regex(/^[a-z]{2,8}_[0-9a-hjkmnp-tv-z]{26}$/, 'must be the id of a query')
    .optional()
    .describe('The match that led here.'),
  agent_signature: signatureText
    .optional()
    .describe('EIP-712 AgentCitation of agent_wallet, where it is not the payer.'),
})

export const claimSourcesMax = 10

export const claimBody = z.strictObject({
  statement: words(10_000).describe('Only its digest is kept.'),
  sources: z
    .array(z.string().min(1).max(2_048))
    .min(1)
    .max(claimSourcesMax)
    .describe('Pages it rests on, the most important first.'),
  agent_wallet: addressText,
  agent_signature: signatureText
    .optional()
    .describe('EIP-712 AgentCitation of agent_wallet, sourceUrl being all sources joined by a space.'),
})

const payoutSchema = z.looseObject({
  domain: z.string(),
  wallet: z.string().nullable(),
  micro: z.string(),
  state: z.enum(['waiting', 'held', 'accrued', 'committing', 'committed', 'settled', 'reversed', 'expired']),
  note: z.string(),
})

export const attestationSchema = z.looseObject({
  id: z.string(),
  url: z.string(),
  record: z.looseObject({ type: z.string(), source_url: z.string().optional(), agent_wallet: z.string() }),
  attestation: z.looseObject({ sig: z.looseObject({ uid: z.string() }), signer: z.string() }),
  split: z.object({ price_micro: z.string(), creator_micro: z.string(), toll_micro: z.string() }),
  payouts: z.array(payoutSchema),
  weight: z.object({ counts: z.boolean(), reasons: z.array(z.string()) }),
  log: z.looseObject({ state: z.enum(['logged', 'pending']) }),
})

export const exampleWallet = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
export const exampleAttestation = {
  id: 'att_01jcxk6v3q8m5r7t9w2y4z6a8c',
  url: 'https://api.example.org/v1/attestations/att_01jcxk6v3q8m5r7t9w2y4z6a8c',
  record: { type: 'assay.citation/v1', source_url: 'https://example.com/a', agent_wallet: exampleWallet },
  attestation: { sig: { uid: `0x${'5a'.repeat(32)}` }, signer: exampleWallet },
  split: { price_micro: '5000', creator_micro: '4500', toll_micro: '500' },
  payouts: [
    {
      domain: 'example.com',
      wallet: exampleWallet,
      micro: '4500',
      state: 'accrued',
      note: 'In the books; part of the next root on chain once the payment is final.',
    },
  ],
  weight: { counts: true, reasons: [] },
  log: { state: 'logged', leaf_index: '42', tree_size: '70000' },
} as const
