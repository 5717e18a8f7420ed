import type { Log } from '@assay/till/kernel/log'
import { type DestinationStream, pino } from 'pino'

const textMax = 256
const depthMax = 4
const itemsMax = 32

const secretNames = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'payment-signature',
  'payment_signature',
  'x-payment',
  'payment-authorization',
  'sign-in-with-x',
  'signature',
  'payload',
  'payment_payload',
  'authorization_payload',
  'payment_identifier',
  'database_url',
  'rpc_url',
])
const secretWord = /private|secret|password|mnemonic|passphrase|seed|token$|api_?key/i

/** Structured logs on standard output, or wherever the destination leads. Secrets are cut out by name, outside text by length. */
export function createLog(options: { destination?: DestinationStream; level?: string } = {}): Log {
  const logger = pino(
    { base: null, level: options.level ?? 'info', timestamp: pino.stdTimeFunctions.isoTime },
    options.destination ?? pino.destination({ dest: 1, sync: false, minLength: 4096 }),
  )
  return {
    info: (fields, message) => logger.info(cleanFields(fields), cleanText(message)),
    warn: (fields, message) => logger.warn(cleanFields(fields), cleanText(message)),
    error: (fields, message) => logger.error(cleanFields(fields), cleanText(message)),
  }
}

function cleanFields(fields: Record<string, unknown>): Record<string, unknown> {
  return cleanValue(fields, 0) as Record<string, unknown>
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value === 'bigint') return value.toString()
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? undefined : value
  if (depth >= depthMax) return '[deep]'
  if (value instanceof Error) return cleanError(value, depth)
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => cleanValue(item, depth + 1))
  const clean: Record<string, unknown> = {}
  let count = 0
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue
    if (count === itemsMax) break
    count += 1
    clean[cleanText(name)] = isSecret(name)
      ? '[redacted]'
      : cleanValue((value as Record<string, unknown>)[name], depth + 1)
  }
  return clean
}

const decided = new Map<string, boolean>()
const decidedMax = 1_000

/** Field names are few and come again on every line, so each is decided once. */
function isSecret(name: string): boolean {
  const known = decided.get(name)
  if (known !== undefined) return known
  const secret = secretNames.has(name.toLowerCase()) || secretWord.test(name)
  if (decided.size < decidedMax) decided.set(name, secret)
  return secret
}

/** The stack, not the fields: libraries hang requests, headers and connection strings on their errors. */
function cleanError(error: Error, depth: number): Record<string, unknown> {
  return {
    name: cleanText(error.name),
    message: cleanText(error.message),
    stack: (error.stack ?? '')
      .split('\n')
      .slice(1, 9)
      .map((line) => cleanText(line.trim())),
    ...(error.cause === undefined ? {} : { cause: cleanValue(error.cause, depth + 1) }),
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** One line, no terminal sequences, no text direction tricks, at most 256 characters. */
export function cleanText(text: string): string {
  const cut = text.length > textMax ? `${text.slice(0, textMax)}…` : text
  if (!unsafe.test(cut)) return cut
  return cut.replace(new RegExp(unsafe.source, 'g'), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
