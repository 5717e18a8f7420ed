import { normalizeText, wordsOf } from './tokenize.ts'

/** A search as it was meant: words with how often they were said, and phrases where quotation marks were set. */
export type Query = {
  terms: ReadonlyMap<string, number>
  /** The same terms in reading order, for adjacency. */
  order: readonly string[]
  phrases: readonly (readonly string[])[]
  /** The words that are looked for, as they were written, each with its terms. */
  words: ReadonlyMap<string, readonly string[]>
  /** Words of asking: they say that something is wanted, not what. */
  ignored: readonly string[]
}

/** More words than this say nothing more about what is wanted, and each costs. */
export const queryTermsMax = 32
const phrasePattern = /"([^"]{1,300})"|“([^”]{1,300})”/g

const askingWords = new Set(
  (
    'what which who whom whose when where why how do does did done doing can could would should shall might must am being ' +
    "i'm i'd i've i me my we any some other others also about between among through during within both each few more " +
    'most only own same too very just one ones etc eg ie via per vs like want wants wanted wanting interested know ' +
    'knows find finding get getting give gives given look looking please tell show see seen make made use used using ' +
    'much many well thing things rather either whether thus here concern concerns concerned concerning regarding deal ' +
    'deals dealing dealt discuss discusses discussed discussing describe describes described describing relate relates ' +
    'related relating'
  ).split(' '),
)
// "Articles about …" asks for articles; in "scientific articles" they are what is asked about.
const askedThings = new Set(
  'article articles paper papers document documents information anything something'.split(' '),
)
const askedThingIs = new Set(
  'about on that which concerning regarding dealing deal describing describe discussing discuss exist exists for related relating'.split(
    ' ',
  ),
)

/** Words of asking are left out wherever something else is left; what is in quotation marks always counts. */
export function readQuery(text: string): Query {
  const quoted = [...text.matchAll(phrasePattern)].map(([, plain, curly]) => wordsOf(plain ?? curly ?? ''))
  const kept = new Set(quoted.flat().map(({ word }) => word))
  const all = wordsOf(text)
  const asks = all.map(({ word }, at) => !kept.has(word) && isAsking(word, all[at + 1]?.word))
  const said = all.filter(({ terms }, at) => terms.length > 0 && asks[at] !== true)
  const looked = said.length > 0 ? said : all
  const terms = new Map<string, number>()
  const order: string[] = []
  for (const term of looked.flatMap((word) => word.terms)) {
    if (!terms.has(term) && terms.size >= queryTermsMax) continue
    terms.set(term, (terms.get(term) ?? 0) + 1)
    order.push(term)
  }
  const phrases = quoted.map((words) => words.flatMap((word) => word.terms)).filter((phrase) => phrase.length > 1)
  return {
    terms,
    order,
    phrases: phrases.slice(0, 4),
    words: new Map(looked.flatMap(({ word, terms }) => (terms.length > 0 ? [[word, terms] as const] : []))),
    ignored: [
      ...new Set(all.filter((word) => !looked.includes(word) || word.terms.length === 0).map(({ word }) => word)),
    ],
  }
}

const isAsking = (word: string, next: string | undefined) =>
  askingWords.has(word) || (askedThings.has(word) && next !== undefined && askedThingIs.has(next))

/** Whether the terms of a phrase are adjacent in a text. */
export function hasPhrase(terms: readonly string[], phrase: readonly string[]): boolean {
  for (let at = 0; at + phrase.length <= terms.length; at += 1)
    if (phrase.every((term, offset) => terms[at + offset] === term)) return true
  return false
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
const suggestedFrom = 4

/** Every word one edit away: a letter too few, too many, wrong, or swapped with its neighbour. */
export function* wordsOneEditAway(term: string): Generator<string> {
  if (term.length < suggestedFrom || normalizeText(term) !== term) return
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
