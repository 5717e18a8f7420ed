import type { FieldProblem } from '@assay/till/selling'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attributionReader } from './attribution.ts'

const wallet = '0x1111111111111111111111111111111111111111'
const otherWallet = '0x2222222222222222222222222222222222222222'

test('attribution: one valid wallet each, two differing codes are refused, the same one twice is fine', () => {
  const read = (aff: string[], header?: string) => {
    const problems: FieldProblem[] = []
    const headers = new Map(header === undefined ? [] : [['x-affiliate-id', header]])
    return {
      ...attributionReader.read(
        aff.map((value) => ['aff', value]),
        headers,
        problems,
      ),
      problems: problems.length,
    }
  }
  expect(read([wallet])).toEqual({ aff: wallet, problems: 0 })
  expect(read([wallet], wallet.toUpperCase().replace('0X', '0x'))).toEqual({ aff: wallet, problems: 0 })
  expect(read([], otherWallet)).toEqual({ aff: otherWallet, problems: 0 })
  expect(read([wallet], otherWallet)).toEqual({ problems: 1 })
  expect(read(['0x12'])).toEqual({ problems: 1 })
})

test('an X-Affiliate-ID that the signature of the request does not cover was credited', () => {
  const read = (input: string, aff: string[] = []) => {
    const problems: FieldProblem[] = []
    const headers = new Map([
      ['x-affiliate-id', wallet],
      ['signature-input', input],
    ])
    return {
      ...attributionReader.read(
        aff.map((value) => ['aff', value]),
        headers,
        problems,
      ),
      problems: problems.length,
    }
  }
  const input = (covered: string, label = 'eth') =>
    `${label}=(${covered});created=1;keyid="erc8128:8453:${otherWallet}"`
  const bot = 'bot=("@authority");created=1;keyid="a-key-of-a-bot"'
  expect(read(input('"@method"'))).toEqual({ problems: 0 })
  expect(read(input('"@method" "x-affiliate-id"'))).toEqual({ aff: wallet, problems: 0 })
  expect(read(`${bot}, ${input('"@method"')}`)).toEqual({ problems: 0 })
  expect(read(`${input('"x-affiliate-id"')}, ${input('"@method"', 'other')}`)).toEqual({ problems: 0 })
  // Not understood, so nothing is known to be covered.
  expect(read(`${input('"x-affiliate-id";req')}`)).toEqual({ problems: 0 })
  expect(read(bot)).toEqual({ aff: wallet, problems: 0 })
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.string({ maxLength: 60 }), (before, after) => {
      const text = `${before}keyid="erc8128:8453:${otherWallet}"${after}`
      return text.includes('"x-affiliate-id"') || !/\berc8128:/.test(text) || read(text).aff === undefined
    }),
  )
  // The query is always covered, so what it names counts, and an ignored header cannot contradict it.
  expect(read(input('"@query"'), [otherWallet])).toEqual({ aff: otherWallet, problems: 0 })
})
