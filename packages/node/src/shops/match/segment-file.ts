import { createHash } from 'node:crypto'
import type { Segment } from './segment.ts'

// The number changes with the layout and with how words become terms: an old segment is built again.
const magic = 'assay-segment-3\n'
const columns = [
  ['pageIds', Float64Array],
  ['domainOf', Uint32Array],
  ['languageOf', Uint16Array],
  ['licenceOf', Uint16Array],
  ['typeOf', Uint16Array],
  ['dayOf', Int32Array],
  ['starts', Uint32Array],
  ['docs', Uint32Array],
  ['impacts', Uint8Array],
  ['peaks', Uint8Array],
  ['tokens', Uint8Array],
  ['tokenStarts', Uint32Array],
] as const
const termColumns = [
  ['bytes', Uint8Array],
  ['offsets', Uint32Array],
  ['slots', Uint32Array],
] as const

type Head = {
  docCount: number
  domains: readonly string[]
  languages: readonly string[]
  licences: readonly string[]
  types: readonly string[]
  /** Elements of each array, in the order of `columns` and `termColumns`. */
  lengths: readonly number[]
}

const aligned = (offset: number) => (offset + 7) & ~7
const digestBytes = 32
const prefixBytes = magic.length + 4

/** One piece: what it is, a head in JSON, the arrays at multiples of eight bytes, and a digest of all that. */
export function encodeSegment(segment: Segment): Uint8Array {
  const arrays = [...columns.map(([name]) => segment[name]), ...termColumns.map(([name]) => segment.terms[name])]
  const { docCount, domains, languages, licences, types } = segment
  const head = Buffer.from(
    JSON.stringify({
      docCount,
      domains,
      languages,
      licences,
      types,
      lengths: arrays.map(({ length }) => length),
    } satisfies Head),
  )
  let size = aligned(prefixBytes + head.length)
  for (const { byteLength } of arrays) size = aligned(size + byteLength)
  const bytes = new Uint8Array(size + digestBytes)
  bytes.set(Buffer.from(magic, 'latin1'))
  new DataView(bytes.buffer).setUint32(magic.length, head.length, true)
  bytes.set(head, prefixBytes)
  let at = aligned(prefixBytes + head.length)
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at = aligned(at + byteLength)
  }
  bytes.set(digestOf(bytes.subarray(0, size)), size)
  return bytes
}

/** Undefined for anything that is not exactly a segment: it is then built again. The arrays are views of `bytes`. */
export function decodeSegment(bytes: Uint8Array): Segment | undefined {
  if (bytes.byteOffset % 8 !== 0 || bytes.length < prefixBytes + digestBytes) return undefined
  if (Buffer.from(bytes.buffer, bytes.byteOffset, magic.length).toString('latin1') !== magic) return undefined
  const end = bytes.length - digestBytes
  if (Buffer.compare(digestOf(bytes.subarray(0, end)), bytes.subarray(end)) !== 0) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headLength = view.getUint32(magic.length, true)
  const head = JSON.parse(Buffer.from(bytes.subarray(prefixBytes, prefixBytes + headLength)).toString()) as Head
  let at = aligned(prefixBytes + headLength)
  const arrays = [...columns, ...termColumns].map(([, kind], index) => {
    const array = new kind(bytes.buffer as ArrayBuffer, bytes.byteOffset + at, head.lengths[index] as number)
    at = aligned(at + array.byteLength)
    return array
  })
  const named = (names: readonly (readonly [string, unknown])[], from: number) =>
    Object.fromEntries(names.map(([name], index) => [name, arrays[from + index]]))
  const { docCount, domains, languages, licences, types } = head
  return {
    docCount,
    domains,
    languages,
    licences,
    types,
    ...named(columns, 0),
    terms: named(termColumns, columns.length),
  } as unknown as Segment
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
