import { fromBase64, toBase64 } from './base64.ts'
import { utf8 } from './bytes.ts'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const asRecord = (value: unknown): Record<string, unknown> | undefined => (isRecord(value) ? value : undefined)

/** The JSON value of a text, or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON object of a text, or undefined. */
export const parseJsonObject = (text: string) => asRecord(parseJson(text))

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The JSON value in these bytes, or undefined. */
export function readJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

/** The JSON object in these bytes, or undefined. */
export const readJsonObject = (bytes: Uint8Array | undefined) => bytes && asRecord(readJson(bytes))

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
