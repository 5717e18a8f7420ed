import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { z } from 'zod'
import type { SigningRequest } from '../chain/wallet/index.ts'

/** What a node and a signer say to each other, as JSON; whole numbers are decimal strings. */
export const signerPaths = { keys: '/v1/keys', sign: '/v1/sign', signBytes: '/v1/sign-bytes' } as const
export const requestBytesMax = 2_097_152

const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .transform((text) => text as Address)
const hex = z
  .string()
  .regex(/^0x(?:[0-9a-f]{2})*$/)
  .transform((text) => text as Hex)
const word = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .transform((text) => text as Hex)
const whole = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,77})$/)
  .transform(BigInt)
const chainId = z
  .int()
  .min(1)
  .max(2 ** 50)

const publicKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/)

const transaction = z.strictObject({
  chainId,
  nonce: whole,
  gasLimit: whole,
  to: address,
  value: whole,
  data: hex,
  maxFeePerGas: whole,
  maxPriorityFeePerGas: whole,
})
const asset = z.strictObject({ address, name: z.string().max(100), version: z.string().max(20) })
const authorization = z.strictObject({
  from: address,
  to: address,
  value: whole,
  validAfter: whole,
  validBefore: whole,
  nonce: word,
})

export const signRequestSchema = z.strictObject({
  address,
  request: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('transaction'), transaction }),
    z.strictObject({ kind: z.enum(['transfer', 'receive']), chainId, asset, authorization }),
  ]),
})

export const signAnswerSchema = z.strictObject({
  signature: z.string().regex(/^[0-9a-f]{128}$/),
  recovery_id: z.int().min(0).max(1),
})
export const keysAnswerSchema = z.strictObject({
  keys: z.array(z.strictObject({ address, use: z.enum(['settler', 'custody']) })).max(64),
  signing_keys: z
    .array(z.strictObject({ x: publicKey, use: z.enum(['response', 'log']) }))
    .max(64)
    .default([]),
})

/** Answers and heads of the log: Ed25519 over bytes that only the node can make sense of. */
export const signBytesRequestSchema = z.strictObject({ x: publicKey, bytes: z.base64().max(requestBytesMax) })
export const signBytesAnswerSchema = z.strictObject({ signature: z.string().regex(/^[0-9a-f]{128}$/) })
export const refusalSchema = z.object({ code: z.string().max(60), detail: z.string().max(500) })

export type SignerUse = 'settler' | 'custody'
export type SigningKeyUse = 'response' | 'log'

export function encodeSignRequest(signer: Address, request: SigningRequest): string {
  const body =
    request.kind === 'transaction'
      ? request
      : {
          ...request,
          asset: { address: request.asset.address, name: request.asset.name, version: request.asset.version },
        }
  return JSON.stringify({ address: signer, request: body }, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}
