import type { Segment } from './segment.ts'

/**
 * The terms of a document in reading order, as numbers of seven bits a byte, the lowest first: a term number plus one,
 * and 0 between title and text. Read for expanding a query and for finding neighbouring words.
 */

/** The first so many terms of a page: what it is about is at its beginning, and every term costs two bytes. */
export const keptTokensMax = 400

type Growing = { push(value: number): void; length(): number }
type GrowingOf<Kind> = Growing & { view(): Kind }

/** `open` a document, `add` its terms, `split` after the title; `finish` ends the last one. */
export function createTokenWriter(bytes: GrowingOf<Uint8Array>, starts: GrowingOf<Uint32Array>) {
  let count = 0
  return {
    open: () => {
      starts.push(bytes.length())
      count = 0
    },
    add: (term: number) => {
      if (count < keptTokensMax) pushNumber(bytes, term + 1)
      count += 1
    },
    split: () => bytes.push(0),
    finish: () => {
      starts.push(bytes.length())
      return { tokens: bytes.view(), tokenStarts: starts.view() }
    },
  }
}

function pushNumber(bytes: Growing, value: number): void {
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80)
    rest >>>= 7
  }
  bytes.push(rest)
}

/** Room for the terms of one document. */
export const createTokenRoom = () => new Int32Array(keptTokensMax + 1)

/** Fills `room`, from `from` on, with term numbers, -1 between title and text; returns how many there are. */
export function readTokens({ tokens, tokenStarts }: Segment, doc: number, room: Int32Array, from = 0): number {
  const end = tokenStarts[doc + 1] as number
  let count = from
  for (let at = tokenStarts[doc] as number; at < end; count += 1) {
    let value = 0
    let shift = 0
    let byte = tokens[at] as number
    at += 1
    while (byte >= 0x80) {
      value |= (byte & 0x7f) << shift
      shift += 7
      byte = tokens[at] as number
      at += 1
    }
    room[count] = (value | (byte << shift)) - 1
  }
  return count - from
}

/** The terms of several segments under the numbers of the one they become. */
export function joinTokens(
  parts: readonly { segment: Segment; numbers: Uint32Array }[],
): Pick<Segment, 'tokens' | 'tokenStarts'> {
  const docs = parts.reduce((sum, { segment }) => sum + segment.docCount, 0)
  const starts = new Uint32Array(docs + 1)
  // No number takes more than five bytes, and most take as many as before.
  let bytes = new Uint8Array(parts.reduce((sum, { segment }) => sum + segment.tokens.length, 0) + 5 * keptTokensMax)
  let at = 0
  let doc = 0
  const room = createTokenRoom()
  for (const { segment, numbers } of parts)
    for (let from = 0; from < segment.docCount; from += 1) {
      if (at + 5 * room.length > bytes.length) {
        const wider = new Uint8Array(bytes.length + Math.max(5 * room.length, bytes.length >> 3))
        wider.set(bytes)
        bytes = wider
      }
      const count = readTokens(segment, from, room)
      for (let n = 0; n < count; n += 1) {
        const term = room[n] as number
        let rest = term < 0 ? 0 : (numbers[term] as number) + 1
        while (rest >= 0x80) {
          bytes[at] = (rest & 0x7f) | 0x80
          at += 1
          rest >>>= 7
        }
        bytes[at] = rest
        at += 1
      }
      doc += 1
      starts[doc] = at
    }
  return { tokens: bytes.slice(0, at), tokenStarts: starts }
}
