/**
 * Porter's algorithm (1980): endings are taken off in five steps, each only where enough of a word stays in front.
 * It joins "citation", "citations" and "cited" without a dictionary, which is what matching needs.
 */
export function stemEnglish(word: string): string {
  if (word.length <= 2 || !asciiWord.test(word)) return word
  let stem = word.startsWith('y') ? `Y${word.slice(1)}` : word
  stem = dropPlural(stem)
  stem = dropPast(stem)
  if (stem.endsWith('y') && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`
  stem = replaceEnding(stem, secondStep, 0)
  stem = replaceEnding(stem, thirdStep, 0)
  stem = dropSuffix(stem)
  return tidyEnd(stem).toLowerCase()
}

const asciiWord = /^[a-z]+$/
// A y after a consonant sounds as a vowel; a word's first y is written Y above and never does.
const vowelPattern = /[aeiou]|(?<=[^aeiouY])y/
const hasVowel = (text: string) => vowelPattern.test(text)

/** The number of vowel-consonant sequences: how much of a word there is. */
function measure(text: string): number {
  let count = 0
  let afterVowel = false
  for (let i = 0; i < text.length; i += 1) {
    const vowel = isVowelAt(text, i)
    if (!vowel && afterVowel) count += 1
    afterVowel = vowel
  }
  return count
}

function isVowelAt(text: string, index: number): boolean {
  const letter = text[index] as string
  if ('aeiou'.includes(letter)) return true
  return letter === 'y' && index > 0 && !isVowelAt(text, index - 1)
}

function dropPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function dropPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const ending = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  if (ending === 0 || !hasVowel(word.slice(0, -ending))) return word
  const stem = word.slice(0, -ending)
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`
  if (endsDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1)
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem
}

const endsDouble = (text: string) => text.length > 1 && text.at(-1) === text.at(-2) && !isVowelAt(text, text.length - 1)

/** Consonant, vowel, consonant at the end, the last not w, x or y: as in "hop". */
function endsShort(text: string): boolean {
  const last = text.length - 1
  if (last < 2 || /[wxy]$/.test(text)) return false
  return !isVowelAt(text, last) && isVowelAt(text, last - 1) && !isVowelAt(text, last - 2)
}

type Endings = readonly (readonly [string, string])[]

const secondStep: Endings = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
]

const thirdStep: Endings = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

/** The first ending that fits decides, whether or not enough is left to replace it. */
function replaceEnding(word: string, endings: Endings, measureAbove: number): string {
  for (const [ending, by] of endings) {
    if (!word.endsWith(ending)) continue
    const stem = word.slice(0, -ending.length)
    return measure(stem) > measureAbove ? stem + by : word
  }
  return word
}

const fourthStep = [
  'al',
  'ance',
  'ence',
  'er',
  'ic',
  'able',
  'ible',
  'ant',
  'ement',
  'ment',
  'ent',
  'ou',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
]

function dropSuffix(word: string): string {
  if (/[st]ion$/.test(word)) return measure(word.slice(0, -3)) > 1 ? word.slice(0, -3) : word
  for (const ending of fourthStep)
    if (word.endsWith(ending)) {
      const stem = word.slice(0, -ending.length)
      return measure(stem) > 1 ? stem : word
    }
  return word
}

function tidyEnd(word: string): string {
  let stem = word
  if (stem.endsWith('e')) {
    const without = stem.slice(0, -1)
    const size = measure(without)
    if (size > 1 || (size === 1 && !endsShort(without))) stem = without
  }
  return stem.endsWith('ll') && measure(stem) > 1 ? stem.slice(0, -1) : stem
}
