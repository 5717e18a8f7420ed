import { z } from 'zod'
import { addressText } from '../../kernel/address-text.ts'

/** What outside users send to our own facilitator. Members we do not know are dropped here and go no further. */
/** 77 digits always fit a uint256; clients that mean "for ever" write fewer or get an error. */
const digits = z.string().regex(/^(0|[1-9][0-9]{0,76})$/)
const micro = z.string().regex(/^[1-9][0-9]{0,17}$/)

export const facilitatorRequirementsSchema = z.object({
  scheme: z.string().max(40),
  network: z.string().max(60),
  asset: addressText,
  amount: micro,
  payTo: addressText,
  maxTimeoutSeconds: z.number().int().min(1).max(3_600),
  extra: z.object({ name: z.string().max(60).optional(), version: z.string().max(10).optional() }).optional(),
})

export const facilitatorRequestSchema = z.object({
  x402Version: z.literal(2),
  paymentPayload: z.object({
    x402Version: z.literal(2),
    resource: z.object({ url: z.string().max(2_048) }).optional(),
    payload: z.object({
      // 4 KiB of signature is more than any wallet known needs.
      signature: z.string().regex(/^0x(?:[0-9a-fA-F]{2}){1,4096}$/),
      authorization: z.object({
        from: addressText,
        to: addressText,
        value: micro,
        validAfter: digits,
        validBefore: digits,
        nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
      }),
    }),
  }),
  paymentRequirements: facilitatorRequirementsSchema,
})

export type FacilitatorRequest = z.infer<typeof facilitatorRequestSchema>

export const facilitatorVerifyAnswerSchema = z.object({
  isValid: z.boolean(),
  invalidReason: z.string().optional(),
  invalidMessage: z.string().optional(),
  payer: z.string(),
})

export const facilitatorSettleAnswerSchema = z.object({
  success: z.boolean(),
  errorReason: z.string().optional(),
  errorMessage: z.string().optional(),
  payer: z.string(),
  transaction: z.string(),
  network: z.string(),
  amount: z.string().optional(),
})

export const facilitatorSupportedSchema = z.object({
  kinds: z.array(z.object({ x402Version: z.number(), scheme: z.string(), network: z.string() })),
  extensions: z.array(z.string()),
  signers: z.record(z.string(), z.array(z.string())),
})

export type FacilitatorVerifyAnswer = z.infer<typeof facilitatorVerifyAnswerSchema>
export type FacilitatorSettleAnswer = z.infer<typeof facilitatorSettleAnswerSchema>
export type FacilitatorSupported = z.infer<typeof facilitatorSupportedSchema>
