import { afterAll, expect, test } from 'vitest'
import { type Case, passed } from './case.ts'
import { catalogue } from './catalogue.ts'
import {
  casesTouched,
  checkCorrect,
  checkMistake,
  foundBy,
  mistakes,
  openSetup,
  unmatched,
} from './faulty-seller/index.ts'

const setup = await openSetup({ settleSeconds: 60 })
afterAll(() => setup?.stop())

/** Some of each level, those that need no waiting; `npm run conformance -- --self-test` checks each mistake by every case. */
const usual = [
  ...['quote-shape', 'methods', 'mpp-challenge'],
  ...['copies-at-once', 'permit2-copies'],
  ...['underpay', 'other-resource', 'overdraw', 'upto-facilitator'],
  ...['5xx-after-settle', 'contract-wallet-flips', 'cancelled-while-settling'],
  ...['receipt', 'identifier-replay'],
]
const defaultCases = catalogue.filter(({ id }) => usual.includes(id))

test('every case has a mistake that it must find, and every mistake a case', () => {
  expect(unmatched()).toEqual([])
  expect(defaultCases).toHaveLength(usual.length)
  expect(new Set(defaultCases.map(({ level }) => level)).size).toBe(5)
})

const correct = await checkCorrect(setup, defaultCases)

test('a seller without mistakes passes', () => {
  expect(correct.problems).toEqual([])
})

test.each(usual.filter((id) => mistakes[id]))('%s is found by its case, and by no other of its level', async (id) => {
  const level = catalogue.find((one) => one.id === id)?.level
  const ofLevel = defaultCases.filter((one) => one.level === level)
  const { problems, failed } = await checkMistake(setup, id, casesTouched(correct.touched, id, ofLevel))
  expect(problems).toEqual([])
  expect(foundBy(id)).toEqual(expect.arrayContaining([...failed]))
  expect(failed).toContain(id)
})

test('a case that always passes, and one that always fails, are noticed', async () => {
  const underpay = catalogue.find(({ id }) => id === 'underpay') as Case
  const blind: Case = { ...underpay, run: async () => passed('looked away') }
  expect((await checkMistake(setup, 'underpay', [blind])).problems).toEqual(['underpay passed: looked away'])
  const wary: Case = { ...underpay, run: async () => ({ verdict: 'failed', seen: 'suspects everybody' }) }
  expect((await checkMistake(setup, undefined, [wary])).problems).toEqual(['underpay failed: suspects everybody'])
})
