import { describe, expect, test } from 'vitest'
import { createDemoSecurities } from '../demo/demo-securities.ts'
import { spell } from '../demo/spell.ts'
import { classifySecurity } from './classify-security.ts'
import { joinedSpelling, normaliseSymbol } from './normalise-symbol.ts'

test('one paper, five spellings, one symbol', () => {
  expect(normaliseSymbol('BRK/B', 'finra')).toBe('BRK.B')
  expect(normaliseSymbol('BRK-B', 'sec')).toBe('BRK.B')
  expect(normaliseSymbol('BRK B', 'ibkr')).toBe('BRK.B')
  expect(normaliseSymbol('BRK.B', 'nasdaq')).toBe('BRK.B')
  expect(joinedSpelling('BRK.B')).toBe('BRKB')
})

test('preferreds, warrants, units, rights and when-issued keep apart', () => {
  expect(normaliseSymbol('BHRpB', 'finra')).toBe('BHR.PRB')
  expect(normaliseSymbol('ABR PRF', 'ibkr')).toBe('ABR.PRF')
  expect(normaliseSymbol('ABR$D', 'nasdaq')).toBe('ABR.PRD')
  expect(normaliseSymbol('AAC-PD', 'sec')).toBe('AAC.PRD')
  expect(normaliseSymbol('UWMC/WS', 'finra')).toBe('UWMC.WS')
  expect(normaliseSymbol('BFT.W', 'nasdaq')).toBe('BFT.WS')
  expect(normaliseSymbol('BFT+', 'nasdaq')).toBe('BFT.WS')
  expect(normaliseSymbol('HTPA/U', 'finra')).toBe('HTPA.U')
  expect(normaliseSymbol('IFFw', 'finra')).toBe('IFF.WI')
})

test('what is no symbol is none', () => {
  for (const bad of ['', '1AB', 'A B C', 'gme', 'A'.repeat(20), '../x', 'USWS.OLD', "A'"])
    expect(normaliseSymbol(bad, 'ibkr')).toBeUndefined()
})

describe('every demo symbol survives the spelling of each publisher', () => {
  test.each(['finra', 'ibkr', 'nasdaq', 'sec'] as const)('%s', (dialect) => {
    for (const { symbol } of createDemoSecurities(200))
      expect(normaliseSymbol(spell(symbol, dialect), dialect)).toBe(symbol)
  })
})

test('the name and the flags tell what kind of paper it is', () => {
  const kind = (name: string, symbol = 'AAAA', flags = {}) =>
    classifySecurity({ symbol, name, etf: false, testIssue: false, ...flags })
  expect(kind('GameStop Corporation Common Stock')).toBe('share')
  expect(kind('ATA Creativity Global - American Depositary Shares, each representing two common shares')).toBe('adr')
  expect(
    kind('Aspirational Corp. Redeemable Warrants, each whole warrant exercisable for one Class A ordinary share'),
  ).toBe('warrant')
  expect(
    kind('Foley Trasimene Units, each consisting of one share of Class A common stock, and one-third of one warrant'),
  ).toBe('unit')
  expect(kind('W.R. Berkley Corporation 4.25% Subordinated Debentures due 2060')).toBe('note')
  expect(kind('Dividend and Income Fund', 'X', { etf: true })).toBe('etf')
  expect(kind('NASDAQ TEST STOCK', 'ZVZZT', { testIssue: true })).toBe('test')
  expect(kind('Anything', 'ABR.PRD')).toBe('preferred')
})
