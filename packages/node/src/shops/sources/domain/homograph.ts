import { domainToUnicode } from 'node:url'

export type Homograph = {
  /** `mixed_script`: letters of several scripts in one label. `looks_latin`: all letters imitate Latin ones. */
  kind: 'mixed_script' | 'looks_latin' | 'invisible'
  /** What a person would read, where that is known. */
  looksLike: string | undefined
}

const scripts = [
  ['latin', /\p{Script=Latin}/u],
  ['cyrillic', /\p{Script=Cyrillic}/u],
  ['greek', /\p{Script=Greek}/u],
  ['armenian', /\p{Script=Armenian}/u],
  ['hebrew', /\p{Script=Hebrew}/u],
  ['arabic', /\p{Script=Arabic}/u],
  ['cherokee', /\p{Script=Cherokee}/u],
  ['thai', /\p{Script=Thai}/u],
  ['han', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u],
  ['hangul', /\p{Script=Hangul}/u],
  [
    'other',
    /(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Cherokee}\p{Script=Thai}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}])\p{L}/u,
  ],
] as const

// Letters that most typefaces draw like a Latin one.
const lookalikes = new Map(
  Object.entries({
    а: 'a',
    ӓ: 'a',
    в: 'b',
    с: 'c',
    ԁ: 'd',
    е: 'e',
    ё: 'e',
    һ: 'h',
    н: 'h',
    і: 'i',
    ї: 'i',
    ј: 'j',
    к: 'k',
    ӏ: 'l',
    м: 'm',
    о: 'o',
    ӧ: 'o',
    р: 'p',
    ԛ: 'q',
    г: 'r',
    ѕ: 's',
    т: 't',
    ѵ: 'v',
    ԝ: 'w',
    х: 'x',
    у: 'y',
    ү: 'y',
    ᴢ: 'z',
    α: 'a',
    β: 'b',
    γ: 'y',
    ε: 'e',
    η: 'n',
    ι: 'i',
    κ: 'k',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    τ: 't',
    υ: 'u',
    χ: 'x',
    ω: 'w',
    ա: 'w',
    հ: 'h',
    ո: 'n',
    օ: 'o',
    ս: 'u',
    ց: 'g',
    զ: 'q',
    ı: 'i',
    ɑ: 'a',
    ɡ: 'g',
    ɩ: 'i',
    ʏ: 'y',
  }),
)

// Japanese and Korean write with several scripts side by side, and Latin among them is ordinary.
const ordinaryTogether = new Set(['latin', 'han', 'hangul'])

/** Whether an internationalised name may be meant to be taken for another one. Takes A-labels. */
export function findHomograph(domain: string): Homograph | undefined {
  if (!domain.includes('xn--')) return undefined
  const unicode = domainToUnicode(domain)
  if (/\p{Default_Ignorable_Code_Point}/u.test(unicode)) return { kind: 'invisible', looksLike: undefined }
  const skeleton = [...unicode].map((letter) => lookalikes.get(letter) ?? letter).join('')
  const readable = /^[\x20-\x7e]+$/.test(skeleton) ? skeleton : undefined
  for (const label of unicode.split('.')) {
    const found = scripts.filter(([, pattern]) => pattern.test(label)).map(([name]) => name)
    if (found.length > 1 && !found.every((name) => ordinaryTogether.has(name)))
      return { kind: 'mixed_script', looksLike: readable }
    const letters = [...label].filter((letter) => /\p{L}/u.test(letter))
    const foreign = letters.filter((letter) => letter > '\u024f')
    if (foreign.length > 0 && letters.every((letter) => lookalikes.has(letter) || /[a-z]/.test(letter)))
      return { kind: 'looks_latin', looksLike: readable }
  }
  return undefined
}
