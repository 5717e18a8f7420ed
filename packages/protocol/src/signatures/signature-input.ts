import { fromBase64 } from '../base64.ts'

/** One member of Signature-Input: what it covers, its parameters, and the text that goes into the signature base. */
export type SignatureInput = {
  label: string
  /** Serialized identifiers, quotes included: `"@method"`, or `"@method";req` in a response. */
  components: readonly string[]
  params: ReadonlyMap<string, string | number>
  inner: string
}

export const signatureHeaderCharsMax = 16_384
const membersMax = 4
const componentsMax = 32

const memberPattern =
  /^([a-z*][a-z0-9_.*-]{0,63})=\(([^()]*)\)((?:;[a-z*][a-z0-9_.*-]*=(?:0|-?[1-9][0-9]{0,14}|"[^"\\]*"))*)$/
const componentPattern = /^"[@a-z0-9!#$%&'*+.^_`|~-]{1,128}"$/
const responseComponentPattern = /^"[@a-z0-9!#$%&'*+.^_`|~-]{1,128}"(?:;req)?$/
const paramPattern = /;([a-z*][a-z0-9_.*-]*)=(?:(0|-?[1-9][0-9]{0,14})|"([^"\\]*)")/g

/**
 * Signature-Input in the narrow form that nodes and their callers use: plain components, those of the request in a
 * response, integer and string parameters, each spelled as RFC 9651 would write it again, since that spelling is what the signature base holds.
 * Undefined for everything else, so that what is verified is exactly what was understood.
 */
export function parseSignatureInput(header: string, component = componentPattern): SignatureInput[] | undefined {
  if (header.length > signatureHeaderCharsMax || !printable.test(header)) return undefined
  const members = splitMembers(header)
  if (members === undefined || members.length > membersMax) return undefined
  const parsed = members.map((text) => parseMember(text, component))
  if (parsed.some((member) => member === undefined)) return undefined
  const inputs = parsed as SignatureInput[]
  return new Set(inputs.map((input) => input.label)).size === inputs.length ? inputs : undefined
}

/** The one signature of a node's response, in the very form nodes write; undefined for anything else. */
export function parseResponseSignatureInput(header: string): SignatureInput | undefined {
  const [input, ...more] = parseSignatureInput(header, responseComponentPattern) ?? []
  return input && more.length === 0 && header === `${input.label}=${input.inner}` ? input : undefined
}

const printable = /^[\x20-\x7e]+$/

/** Splits at commas outside quotes. */
function splitMembers(header: string): string[] | undefined {
  const members: string[] = []
  let start = 0
  let quoted = false
  for (let i = 0; i < header.length; i += 1) {
    const char = header[i]
    if (char === '"') quoted = !quoted
    else if (char === ',' && !quoted) {
      members.push(header.slice(start, i).trim())
      start = i + 1
    }
  }
  members.push(header.slice(start).trim())
  return quoted ? undefined : members
}

function parseMember(text: string, pattern: RegExp): SignatureInput | undefined {
  const [, label, list, tail] = memberPattern.exec(text) ?? []
  if (label === undefined || list === undefined || tail === undefined) return undefined
  const components = list.trim() === '' ? [] : list.trim().split(/ +/)
  if (components.length > componentsMax || new Set(components).size !== components.length) return undefined
  if (!components.every((component) => pattern.test(component))) return undefined
  const params = new Map<string, string | number>()
  for (const [, name = '', integer, string] of tail.matchAll(paramPattern)) {
    if (params.has(name)) return undefined
    params.set(name, integer === undefined ? (string ?? '') : Number(integer))
  }
  return { label, components, params, inner: `(${components.join(' ')})${tail}` }
}

const signaturePattern = /^([a-z*][a-z0-9_.*-]{0,63})=:([A-Za-z0-9+/]*={0,2}):$/

/** The bytes under one label of a Signature header. */
export function parseSignature(header: string, label: string): Uint8Array<ArrayBuffer> | undefined {
  if (header.length > signatureHeaderCharsMax) return undefined
  const found = header
    .split(',')
    .map((member) => signaturePattern.exec(member.trim()))
    .filter((match) => match?.[1] === label)
  const [match] = found
  return found.length === 1 && match?.[2] !== undefined ? fromBase64(match[2]) : undefined
}
