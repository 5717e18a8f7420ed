/** What a page brings into the index; everything else about it stays in the database. */
export type IndexedDoc = {
  /** Grows with time and is never used again. */
  pageId: number
  domain: string
  title: string
  text: string
  /** Primary language subtag, empty when unknown. */
  language: string
  licence: string
  /** What the address serves, such as `html`. */
  type: string
  /** Days since 1970 of publication or last change. */
  day: number
}

/**
 * An immutable part of the index, all of it in typed arrays so that it can be written to a file, loaded back without
 * parsing and shared between threads. Postings of a term are in order of their documents.
 */
export type Segment = {
  docCount: number
  /** Ascending. */
  pageIds: Float64Array
  domainOf: Uint32Array
  languageOf: Uint16Array
  licenceOf: Uint16Array
  typeOf: Uint16Array
  dayOf: Int32Array
  domains: readonly string[]
  languages: readonly string[]
  licences: readonly string[]
  types: readonly string[]
  terms: TermTable
  /** First posting of each term, and one past the last of all. */
  starts: Uint32Array
  docs: Uint32Array
  /** Share of the highest possible term score, in 255ths. */
  impacts: Uint8Array
  /** Highest impact of each term. */
  peaks: Uint8Array
  /** The first terms of each document in reading order (token-stream.ts), and where each document starts in them. */
  tokens: Uint8Array
  tokenStarts: Uint32Array
}

/** Terms as bytes with an open-addressed table over them: no string is made until one is asked for. */
export type TermTable = { bytes: Uint8Array; offsets: Uint32Array; slots: Uint32Array }

const emptySlot = 0xffff_ffff
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function createTermTable(terms: readonly string[]): TermTable {
  const encoded = terms.map((term) => encoder.encode(term))
  const offsets = new Uint32Array(terms.length + 1)
  encoded.forEach((bytes, index) => {
    offsets[index + 1] = (offsets[index] as number) + bytes.length
  })
  const bytes = new Uint8Array(offsets[terms.length] as number)
  encoded.forEach((term, index) => {
    bytes.set(term, offsets[index])
  })
  let size = 16
  while (size < terms.length * 2) size *= 2
  const slots = new Uint32Array(size).fill(emptySlot)
  encoded.forEach((term, index) => {
    let slot = hashOf(term) & (size - 1)
    while (slots[slot] !== emptySlot) slot = (slot + 1) & (size - 1)
    slots[slot] = index
  })
  return { bytes, offsets, slots }
}

/** The number of a term, or -1. */
export function findTerm(table: TermTable, term: string): number {
  const wanted = bytesOf(term)
  const mask = table.slots.length - 1
  for (let slot = hashOf(wanted) & mask; ; slot = (slot + 1) & mask) {
    const index = table.slots[slot] as number
    if (index === emptySlot) return -1
    if (isTermAt(table, index, wanted)) return index
  }
}

// Terms are looked up by the hundred for a word with a slip: most fit in here, and nothing is left behind.
const room = new Uint8Array(256)
const views = Array.from({ length: room.length + 1 }, (_, length) => room.subarray(0, length))

function bytesOf(term: string): Uint8Array {
  if (term.length * 3 > room.length) return encoder.encode(term)
  return views[encoder.encodeInto(term, room).written] as Uint8Array
}

export function termAt(table: TermTable, index: number): string {
  return decoder.decode(table.bytes.subarray(table.offsets[index], table.offsets[index + 1]))
}

export function termCount(table: TermTable): number {
  return table.offsets.length - 1
}

function isTermAt({ bytes, offsets }: TermTable, index: number, wanted: Uint8Array): boolean {
  const start = offsets[index] as number
  if ((offsets[index + 1] as number) - start !== wanted.length) return false
  for (let i = 0; i < wanted.length; i += 1) if (bytes[start + i] !== wanted[i]) return false
  return true
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < bytes.length; i += 1) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  return hash >>> 0
}
