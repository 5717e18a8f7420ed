import { didWeb } from './did.ts'
import { isRecord, readJsonObject } from './json-object.ts'
import { isSignedJws, readJws } from './jws.ts'
import type { KeySet } from './keys/key-directory.ts'
import { coversTime } from './signatures/verify-response.ts'

export type Receipt = {
  version: 1
  network: string
  resourceUrl: string
  payer: string
  issuedAt: number
  transaction?: string
  /** The entry that the seller promised a place in its transparency log: base64 of its RFC 6962 leaf hash. */
  log?: { origin: string; leaf_hash: string }
}

export type ReceiptVerification =
  | { status: 'verified'; receipt: Receipt; keyId: string }
  | { status: 'invalid'; reason: string }

export type ExpectedReceipt = { resourceUrl?: string; payer?: string; network?: string; log?: Receipt['log'] }

/** Checks a receipt (compact EdDSA JWS, `kid` = did:web of the seller) against the seller's keys and what was bought. */
export async function verifyReceipt(
  text: string,
  options: { keys: KeySet; authority: string; expected?: ExpectedReceipt },
): Promise<ReceiptVerification> {
  const jws = readJws(text)
  const receipt = jws && readReceipt(readJsonObject(jws.payload))
  if (jws === undefined || receipt === undefined) return invalid('the receipt cannot be read')
  const [did, keyId = ''] = jws.kid.split('#')
  if (did !== didWeb(options.authority)) return invalid('the receipt is of another seller')
  const key = options.keys.get(keyId)
  if (key === undefined || !coversTime(key, receipt.issuedAt, 60)) return invalid('the key was not valid at that time')
  if (!(await isSignedJws(jws, key.x))) return invalid('the signature does not fit')
  const difference = compare(receipt, options.expected ?? {})
  return difference === undefined ? { status: 'verified', receipt, keyId } : invalid(`${difference} is another one`)
}

function invalid(reason: string): ReceiptVerification {
  return { status: 'invalid', reason }
}

function readReceipt(value: Record<string, unknown> | undefined): Receipt | undefined {
  if (value === undefined) return undefined
  const { version, network, resourceUrl, payer, issuedAt, transaction, log } = value
  if (version !== 1 || typeof network !== 'string' || typeof resourceUrl !== 'string') return undefined
  if (typeof payer !== 'string' || typeof issuedAt !== 'number') return undefined
  const promised = readPromised(log)
  if (log !== undefined && !promised) return undefined
  const receipt = { version, network, resourceUrl, payer, issuedAt, ...(promised ? { log: promised } : {}) } as const
  if (transaction === undefined || transaction === '') return receipt
  return typeof transaction === 'string' ? { ...receipt, transaction } : undefined
}

function readPromised(value: unknown): Receipt['log'] {
  if (!isRecord(value) || typeof value.origin !== 'string' || typeof value.leaf_hash !== 'string') return undefined
  return { origin: value.origin, leaf_hash: value.leaf_hash }
}

function compare(receipt: Receipt, expected: ExpectedReceipt): string | undefined {
  const { resourceUrl, payer, network, log } = expected
  if (resourceUrl !== undefined && receipt.resourceUrl !== resourceUrl) return 'resourceUrl'
  if (payer !== undefined && receipt.payer.toLowerCase() !== payer.toLowerCase()) return 'payer'
  if (network !== undefined && receipt.network !== network) return 'network'
  if (log === undefined) return undefined
  return receipt.log?.origin === log.origin && receipt.log.leaf_hash === log.leaf_hash ? undefined : 'log'
}
