import { stemmer } from 'stemmer'

const termCharsMax = 48
// Letters with their marks, digits; an apostrophe inside a word joins it, as in "don't".
const wordPattern = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

// Words so common that they tell nothing about a page; kept short, for "who", "can" and the like may be what is asked.
const stopWords = new Set(
  (
    'a an and are as at be been but by for from had has have he her his i if in into is it its of on or our she so ' +
    'such than that the their them then there these they this those to was we were which will with you your'
  ).split(' '),
)

/** Terms of a text in reading order: normalized, split, stemmed; in scripts without spaces every pair of neighbours is one. */
export function tokenize(text: string): string[] {
  const terms: string[] = []
  for (const [word] of normalizeText(text).matchAll(wordPattern)) pushTerms(terms, word)
  return terms
}

/** The words of a text as they were written, but normalized, each with its terms; a stop word has none. */
export function wordsOf(text: string): { word: string; terms: readonly string[] }[] {
  return Array.from(normalizeText(text).matchAll(wordPattern), ([word]) => {
    const terms: string[] = []
    pushTerms(terms, word)
    return { word, terms }
  })
}

function pushTerms(terms: string[], word: string): void {
  if (unspaced.test(word)) pushPairs(terms, word)
  else {
    const plain = word.replace(/['’]s?$|['’]/gu, '')
    if (plain.length > 0 && !stopWords.has(plain)) terms.push(stem(plain.slice(0, termCharsMax)))
  }
}

/** Porter's algorithm knows English alone; what has other letters or digits stays as it is. */
const stem = (word: string) => (/^[a-z]+$/.test(word) ? stemmer(word) : word)

/** Case, width and accents do not distinguish two words in a search. */
export function normalizeText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .normalize('NFC')
}

function pushPairs(terms: string[], run: string): void {
  const letters = [...run]
  if (letters.length === 1) terms.push(run)
  for (let i = 0; i + 1 < letters.length; i += 1) terms.push(`${letters[i]}${letters[i + 1]}`)
}
