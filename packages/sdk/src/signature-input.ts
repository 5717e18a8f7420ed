/** The one member of Signature-Input that a node's response signature uses. */
export type ResponseSignatureInput = {
  label: string
  components: string[]
  params: Map<string, string | number>
  inner: string
}

const memberPattern = /^([a-z*][a-z0-9_.*-]{0,63})=\(([^()]*)\)((?:;[a-z]+=(?:0|[1-9][0-9]{0,14}|"[^"\\]*"))*)$/
const paramPattern = /;([a-z]+)=(?:(0|[1-9][0-9]{0,14})|"([^"\\]*)")/g
const componentPattern = /^"[@a-z0-9-]{1,64}"(?:;req)?$/
const headerCharsMax = 8_192

/** Undefined unless the header holds exactly one signature in the form nodes write. */
export function parseResponseSignatureInput(header: string): ResponseSignatureInput | undefined {
  if (header.length > headerCharsMax) return undefined
  const [, label, list, tail] = memberPattern.exec(header.trim()) ?? []
  if (label === undefined || list === undefined || tail === undefined) return undefined
  const components = list.split(' ')
  if (!components.every((component) => componentPattern.test(component))) return undefined
  if (new Set(components).size !== components.length) return undefined
  const params = new Map<string, string | number>()
  for (const [, name = '', integer, string] of tail.matchAll(paramPattern)) {
    if (params.has(name)) return undefined
    params.set(name, integer === undefined ? (string ?? '') : Number(integer))
  }
  return { label, components, params, inner: `(${list})${tail}` }
}
