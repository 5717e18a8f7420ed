import { fold, tokenize } from './tokenize.ts'

/** A search as it was meant: words with how often they were said, and phrases where quotation marks were set. */
export type Query = { terms: ReadonlyMap<string, number>; phrases: readonly (readonly string[])[] }

/** More words than this say nothing more about what is wanted, and each costs. */
export const queryTermsMax = 32
const phrasePattern = /"([^"]{1,300})"|“([^”]{1,300})”/g

export function readQuery(text: string): Query {
  const phrases = [...text.matchAll(phrasePattern)]
    .map(([, plain, curly]) => tokenize(plain ?? curly ?? ''))
    .filter((terms) => terms.length > 1)
  const terms = new Map<string, number>()
  for (const term of tokenize(text))
    if (terms.has(term) || terms.size < queryTermsMax) terms.set(term, (terms.get(term) ?? 0) + 1)
  return { terms, phrases: phrases.slice(0, 4) }
}

/** Whether the terms of a phrase stand side by side in a text. */
export function hasPhrase(terms: readonly string[], phrase: readonly string[]): boolean {
  for (let at = 0; at + phrase.length <= terms.length; at += 1)
    if (phrase.every((term, offset) => terms[at + offset] === term)) return true
  return false
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
const correctedFrom = 4

/** Every spelling one slip away: a letter too few, too many, wrong, or swapped with its neighbour. */
export function* oneSlipAway(term: string): Generator<string> {
  if (term.length < correctedFrom || fold(term) !== term) return
  for (let i = 0; i <= term.length; i += 1) {
    const [before, after] = [term.slice(0, i), term.slice(i)]
    if (after.length > 0) yield before + after.slice(1)
    if (after.length > 1) yield `${before}${after[1]}${after[0]}${after.slice(2)}`
    for (const letter of alphabet) {
      if (after.length > 0 && after[0] !== letter) yield before + letter + after.slice(1)
      yield before + letter + after
    }
  }
}
