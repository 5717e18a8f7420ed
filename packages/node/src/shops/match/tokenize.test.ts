import { expect, test } from 'vitest'
import { tokenize } from './tokenize.ts'

test('forms of an English word are one term, and words with other letters or digits stay as they are', () => {
  expect(tokenize('citation citations cited')).toEqual(['citat', 'citat', 'cite'])
  expect(tokenize('technology technologies possibly possible')).toEqual([
    'technolog',
    'technolog',
    'possibl',
    'possibl',
  ])
  expect(tokenize('straße b2bs наши')).toEqual(['straße', 'b2bs', 'наши'])
})

test('case, accents, width and apostrophes do not part words; scripts without spaces become pairs', () => {
  expect(tokenize('Café cafes ＣＡＦÉ')).toEqual(['cafe', 'cafe', 'cafe'])
  expect(tokenize("The issuer's tokens, the issuers’ token")).toEqual(['issuer', 'token', 'issuer', 'token'])
  expect(tokenize('空売り比率')).toEqual(['空売', '売り', 'り比', '比率'])
  expect(tokenize('GME +120% on 2021-01-27')).toEqual(['gme', '120', '2021', '01', '27'])
  expect(tokenize('')).toEqual([])
})
