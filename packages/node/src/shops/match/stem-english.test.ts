import { expect, test } from 'vitest'
import { stemEnglish } from './stem-english.ts'
import { tokenize } from './tokenize.ts'

// Pairs from the paper that describes the algorithm.
const published: Record<string, string> = {
  caresses: 'caress',
  ponies: 'poni',
  ties: 'ti',
  caress: 'caress',
  cats: 'cat',
  feed: 'feed',
  agreed: 'agre',
  plastered: 'plaster',
  bled: 'bled',
  motoring: 'motor',
  sing: 'sing',
  conflated: 'conflat',
  troubled: 'troubl',
  sized: 'size',
  hopping: 'hop',
  tanned: 'tan',
  falling: 'fall',
  hissing: 'hiss',
  fizzed: 'fizz',
  failing: 'fail',
  filing: 'file',
  happy: 'happi',
  sky: 'sky',
  relational: 'relat',
  conditional: 'condit',
  rational: 'ration',
  valenci: 'valenc',
  digitizer: 'digit',
  radicalli: 'radic',
  vietnamization: 'vietnam',
  predication: 'predic',
  operator: 'oper',
  feudalism: 'feudal',
  decisiveness: 'decis',
  hopefulness: 'hope',
  callousness: 'callous',
  formaliti: 'formal',
  sensibiliti: 'sensibl',
  triplicate: 'triplic',
  formative: 'form',
  electriciti: 'electr',
  goodness: 'good',
  revival: 'reviv',
  allowance: 'allow',
  inference: 'infer',
  airliner: 'airlin',
  adjustable: 'adjust',
  replacement: 'replac',
  adoption: 'adopt',
  communism: 'commun',
  effective: 'effect',
  bowdlerize: 'bowdler',
  probate: 'probat',
  rate: 'rate',
  cease: 'ceas',
  controll: 'control',
  roll: 'roll',
}

test('words are stemmed as the paper that describes the algorithm says', () => {
  for (const [word, stem] of Object.entries(published)) expect([word, stemEnglish(word)]).toEqual([word, stem])
})

test('case, accents, width and apostrophes do not part words; scripts without spaces become pairs', () => {
  expect(tokenize('Café cafes ＣＡＦÉ')).toEqual(['cafe', 'cafe', 'cafe'])
  expect(tokenize("The issuer's tokens, the issuers’ token")).toEqual(['issuer', 'token', 'issuer', 'token'])
  expect(tokenize('空売り比率')).toEqual(['空売', '売り', 'り比', '比率'])
  expect(tokenize('GME +120% on 2021-01-27')).toEqual(['gme', '120', '2021', '01', '27'])
  expect(tokenize('')).toEqual([])
})
