import { fromBase64, toBase64 } from './base64.ts'
import { utf8 } from './bytes.ts'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The JSON object in these bytes, or undefined. */
export function readJsonObject(bytes: Uint8Array | undefined): Record<string, unknown> | undefined {
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The JSON object in base64, or undefined. */
export function decodeJson(value: string): Record<string, unknown> | undefined {
  return readJsonObject(fromBase64(value))
}

/** The JSON object in a base64 header, or undefined. */
export function decodeHeader(value: string, charsMax: number): Record<string, unknown> | undefined {
  return value.length > charsMax ? undefined : decodeJson(value)
}

export function encodeHeader(value: unknown): string {
  return toBase64(utf8(JSON.stringify(value)))
}
