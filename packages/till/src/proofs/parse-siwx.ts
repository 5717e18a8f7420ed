import { type Account, parseAccount } from '@assay/protocol/account'
import { fromBase64 } from '@assay/protocol/base64'
import { type Hex, isHex } from '@assay/protocol/bytes'
import type { SiwxInfo } from '@assay/protocol/siwe-message'
import { parseStrictJson } from '@assay/protocol/strict-json'
import { z } from 'zod'
import { signatureBytesMax } from './contract-signature.ts'

export type SiwxProof = { info: SiwxInfo; account: Account; signature: Hex }

export const siwxHeaderCharsMax = 24_000

// A line break inside a field would let one field pose as another in the text that was signed.
const line = (max: number) =>
  z
    .string()
    .max(max)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
    .regex(/^[^\u0000-\u001f\u007f]*$/)
const time = line(40).regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/)

const headerSchema = z.object({
  domain: line(255).min(1),
  address: line(42),
  statement: line(500).optional(),
  uri: line(2_048),
  version: z.literal('1'),
  chainId: line(32),
  type: z.literal('eip191'),
  nonce: line(64),
  issuedAt: time,
  expirationTime: time.optional(),
  notBefore: time.optional(),
  requestId: line(128).optional(),
  resources: z.array(line(2_048)).max(16).optional(),
  signatureScheme: z.enum(['eip191', 'eip1271', 'eip6492']).optional(),
  signature: z.string().max(2 + signatureBytesMax * 2),
})

/** SIGN-IN-WITH-X: canonical base64 of strict JSON. Undefined for anything that is not exactly that. */
export function parseSiwx(header: string): SiwxProof | undefined {
  if (header.length > siwxHeaderCharsMax) return undefined
  const bytes = fromBase64(header)
  const json = bytes && parseStrictJson(bytes)
  if (json?.status !== 'ok') return undefined
  const parsed = headerSchema.safeParse(json.value)
  if (!parsed.success) return undefined
  const { address, chainId, signature, domain, uri, version, nonce, issuedAt } = parsed.data
  const account = parseAccount(`${chainId}:${address}`)
  if (account === undefined || !isHex(signature)) return undefined
  const info = { domain, uri, version, nonce, issuedAt, ...presentFields(parsed.data) }
  return { info, account, signature }
}

const optionalNames = ['statement', 'expirationTime', 'notBefore', 'requestId', 'resources'] as const

/** Absent and undefined must not differ, for the signed text is rebuilt from these fields. */
function presentFields(data: z.infer<typeof headerSchema>): Partial<SiwxInfo> {
  return Object.fromEntries(optionalNames.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])))
}
