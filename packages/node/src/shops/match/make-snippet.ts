import { normalText } from '../sources/page/index.ts'
import { tokenize } from './tokenize.ts'

const snippetCharsMax = 320
const sentenceEnd = /(?<=[.!?。！？])\s+/u

export type Snippet = { text: string; start: number; end: number }

/**
 * The stretch of a page that says most about the query: whole sentences of its normal text, so that the very words can
 * be quoted and found again at the same place.
 */
export function makeSnippet(text: string, terms: ReadonlySet<string>): Snippet {
  const normal = normalText(text)
  const sentences = normal.split(sentenceEnd)
  let best: Snippet = { text: '', start: 0, end: 0 }
  let most = -1
  let start = 0
  for (let at = 0; at < sentences.length; at += 1) {
    const window = windowFrom(sentences, at)
    const found = new Set(tokenize(window).filter((term) => terms.has(term))).size
    if (found > most) {
      best = { text: window, start, end: start + window.length }
      most = found
    }
    // Normal text has one space between two sentences.
    start += (sentences[at] as string).length + 1
  }
  return best
}

function windowFrom(sentences: readonly string[], from: number): string {
  let window = cut(sentences[from] ?? '')
  for (let at = from + 1; at < sentences.length; at += 1) {
    const longer = `${window} ${sentences[at]}`
    if (longer.length > snippetCharsMax) break
    window = longer
  }
  return window
}

/** A sentence that is too long ends at a word, without an ellipsis: it stays a quote. */
function cut(sentence: string): string {
  if (sentence.length <= snippetCharsMax) return sentence
  const head = sentence.slice(0, snippetCharsMax)
  const lastSpace = head.lastIndexOf(' ')
  const whole = lastSpace > snippetCharsMax / 2 ? head.slice(0, lastSpace) : head
  // Half of a pair is no character.
  return /[\uD800-\uDBFF]$/.test(whole) ? whole.slice(0, -1) : whole
}
