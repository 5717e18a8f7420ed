import { canonicalJson, type Json, jsonDepth } from '../canonical-json.ts'
import { isRecord } from '../json-object.ts'
import { parseMicro } from '../money.ts'
import { parseNodeAddress } from './node-address.ts'

/** Something that a node offers, as its statement says it. */
export type MeshOffer = {
  capability: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `{name}` stands for a parameter. */
  path: string
  /** The lowest price; "0" is free. */
  price_micro: string
  price_micro_max?: string | undefined
  networks?: string[] | undefined
  /** Path and query that can be asked as they are. */
  example?: string | undefined
  site?: 'base' | undefined
  /** SHA-256 (base64url) of the canonical JSON of `{input, output}`, the schemas of the manifest. */
  schema?: string | undefined
}

/** What a node says of itself. docs/mesh-protocol.md has every field. */
export type MeshStatement = {
  protocol: string
  did: string
  address: string
  base_url: string
  name: string
  sequence: number
  issued_at: string
  expires_at: string
  networks: { network: string; asset: string }[]
  offers: MeshOffer[]
  /** The transparency log of the node: name, where its files are, the keys that sign it. */
  log?: { origin: string; url: string; keys: string[] } | undefined
  /** Where the node cosigns the logs of its peers (C2SP tlog-witness), and with which key. */
  witness?: { url: string; key: string } | undefined
}

export const offersMax = 128
export const capabilityPattern = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){0,5}$/

const pathPattern = /^\/[\x21-\x7e]{0,299}$/
const networkPattern = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/
const vkeyPattern = /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+=*$/
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/
const methods = ['GET', 'POST', 'PUT', 'DELETE']

const isText = (value: unknown, charsMax: number, pattern?: RegExp): value is string =>
  typeof value === 'string' && value.length <= charsMax && (pattern === undefined || pattern.test(value))
const isTime = (value: unknown) => isText(value, 40, timePattern) && !Number.isNaN(Date.parse(value))
const isMicro = (value: unknown) => typeof value === 'string' && parseMicro(value) !== undefined
const isList = (value: unknown, most: number, fits: (item: unknown) => boolean) =>
  Array.isArray(value) && value.length <= most && value.every(fits)
const optional = (value: unknown, fits: (given: unknown) => boolean) => value === undefined || fits(value)

function isOffer(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { capability, method, path, price_micro, price_micro_max, networks, example, site, schema } = value
  return (
    isText(capability, 64, capabilityPattern) &&
    methods.includes(String(method)) &&
    isText(path, 300, pathPattern) &&
    isMicro(price_micro) &&
    optional(price_micro_max, isMicro) &&
    optional(networks, (given) => isList(given, 8, (one) => isText(one, 64, networkPattern))) &&
    optional(example, (given) => isText(given, 300, pathPattern)) &&
    optional(site, (given) => given === 'base') &&
    optional(schema, (given) => isText(given, 43, /^[A-Za-z0-9_-]{43}$/))
  )
}

function isStatement(value: unknown): value is MeshStatement {
  if (!isRecord(value)) return false
  const { protocol, did, address, base_url, name, sequence, issued_at, expires_at, networks, offers } = value
  return (
    isText(protocol, 32, /^1\.\d{1,4}\.\d{1,4}$/) &&
    isText(did, 300) &&
    isText(address, 255) &&
    parseNodeAddress(base_url) !== undefined &&
    isText(name, 64) &&
    Number.isSafeInteger(sequence) &&
    (sequence as number) >= 1 &&
    isTime(issued_at) &&
    isTime(expires_at) &&
    isList(networks, 8, (one) => isRecord(one) && isText(one.network, 64, networkPattern) && isText(one.asset, 64)) &&
    isList(offers, offersMax, isOffer)
  )
}

const isLog = (value: unknown) =>
  isRecord(value) &&
  isText(value.origin, 255) &&
  value.origin !== '' &&
  isText(value.url, 300) &&
  isList(value.keys, 8, (key) => isText(key, 400, vkeyPattern)) &&
  (value.keys as unknown[]).length > 0
const isWitness = (value: unknown) => isRecord(value) && isText(value.url, 300) && isText(value.key, 400, vkeyPattern)

/** One value has one form: bytes that another parser might read otherwise are refused. */
export function readMeshStatement(json: string): MeshStatement | 'not_canonical' | 'malformed' {
  if (jsonDepth(json) > 6) return 'malformed'
  try {
    const value = JSON.parse(json) as Json
    if (canonicalJson(value) !== json) return 'not_canonical'
    if (!isStatement(value)) return 'malformed'
    const { log, witness, ...statement } = value
    // Later additions: a reader that cannot use one still takes the statement.
    return { ...statement, ...(isLog(log) ? { log } : {}), ...(isWitness(witness) ? { witness } : {}) }
  } catch {
    return 'malformed'
  }
}
