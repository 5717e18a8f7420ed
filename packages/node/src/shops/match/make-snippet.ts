import { normalText } from '../sources/page/index.ts'
import { tokenize } from './tokenize.ts'

const snippetCharsMax = 320
const sentenceEnd = /(?<=[.!?。！？])\s+/u

export type Snippet = { text: string; start: number; end: number }

type Piece = { start: number; end: number }

/**
 * The stretch of a page that says most about the query: whole sentences of its normal text, so that the very words can
 * be quoted and found again at the same place.
 */
export function makeSnippet(text: string, terms: ReadonlySet<string>): Snippet {
  const normal = normalText(text)
  const pieces = piecesOf(normal)
  let best: Snippet = { text: '', start: 0, end: 0 }
  let most = -1
  pieces.forEach(({ start }, at) => {
    const end = windowEnd(pieces, at)
    const window = normal.slice(start, end)
    const found = new Set(tokenize(window).filter((term) => terms.has(term))).size
    if (found > most) {
      best = { text: window, start, end }
      most = found
    }
  })
  return best
}

/** Sentences; one that is too long in several pieces, without an ellipsis: each stays a quote. */
function piecesOf(normal: string): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  for (const sentence of normal.split(sentenceEnd)) {
    const end = start + sentence.length
    while (end - start > snippetCharsMax) {
      const cutAt = start + cutLength(normal.slice(start, start + snippetCharsMax))
      pieces.push({ start, end: cutAt })
      start = normal[cutAt] === ' ' ? cutAt + 1 : cutAt
    }
    pieces.push({ start, end })
    // Normal text has one space between two sentences.
    start = end + 1
  }
  return pieces
}

function windowEnd(pieces: readonly Piece[], from: number): number {
  const { start, end: first } = pieces[from] as Piece
  let end = first
  for (let at = from + 1; at < pieces.length; at += 1) {
    const next = (pieces[at] as Piece).end
    if (next - start > snippetCharsMax) break
    end = next
  }
  return end
}

/** At the end of a word where there is one. */
function cutLength(head: string): number {
  const lastSpace = head.lastIndexOf(' ')
  if (lastSpace > head.length / 2) return lastSpace
  // Half of a pair is no character.
  return /[\uD800-\uDBFF]$/.test(head) ? head.length - 1 : head.length
}
