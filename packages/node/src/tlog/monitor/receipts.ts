import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { isRecord, parseJson } from '@assay/protocol/json-object'
import { leafHash } from '../tree-hash.ts'

/** What a receipt or an attestation promises: that a leaf is in a log. */
export type Commitment = { origin: string; leafHash: string }

const jwsPattern = /^[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]{86}$/
const depthMax = 3

/** Every commitment in a file: a receipt, an evidence file, an attestation. Never throws; [] where there is none. */
export function commitmentsIn(text: string): Commitment[] {
  const found = new Map<string, Commitment>()
  collect(jwsPattern.test(text.trim()) ? text.trim() : parseJson(text), 0, found)
  return [...found.values()]
}

function collect(value: unknown, depth: number, found: Map<string, Commitment>): void {
  if (depth > depthMax) return
  if (typeof value === 'string') {
    const [, payload] = jwsPattern.exec(value) ?? []
    if (payload !== undefined) collect(parseJson(Buffer.from(payload, 'base64url').toString('utf8')), depth + 1, found)
    return
  }
  if (!isRecord(value)) return
  const own = commitmentOf(value)
  if (own) found.set(`${own.origin} ${own.leafHash}`, own)
  // An evidence file has its receipt as JWS, and the answer, which may be an attestation, as base64.
  if (typeof value.receipt === 'string') collect(value.receipt, depth + 1, found)
  const { response } = value
  if (isRecord(response) && typeof response.body_base64 === 'string')
    collect(parseJson(Buffer.from(response.body_base64, 'base64').toString('utf8')), depth + 1, found)
}

function commitmentOf({ log, record }: Record<string, unknown>): Commitment | undefined {
  if (isRecord(log)) {
    const hash = hashOf(log.leaf_hash)
    if (typeof log.origin === 'string' && hash) return { origin: log.origin, leafHash: hash }
  }
  return isRecord(record) && isRecord(log) && log.state === 'pending' ? fromRecord(record) : undefined
}

/** An attestation saved before it had its place: its leaf is the canonical JSON of its record. */
function fromRecord(record: Record<string, unknown>): Commitment | undefined {
  if (typeof record.node !== 'string' || !URL.canParse(record.node)) return undefined
  try {
    const leaf = leafHash(Buffer.from(canonicalJson(record as Json)))
    return { origin: `${new URL(record.node).host}/v1/log`, leafHash: leaf.toString('hex') }
  } catch {
    return undefined
  }
}

/** 32 bytes in base64 or hex; given back in hex. */
export function hashOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (/^(?:0x)?[0-9a-fA-F]{64}$/.test(value)) return value.replace(/^0x/, '').toLowerCase()
  const bytes = value.length === 44 ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  return bytes.length === 32 && bytes.toString('base64') === value ? bytes.toString('hex') : undefined
}
