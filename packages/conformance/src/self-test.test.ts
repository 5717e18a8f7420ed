import { afterAll, expect, test } from 'vitest'
import { casesTouched, foundBy, holes, judgeCorrect, judgeHole, openLane, unmatched } from './careless/index.ts'
import { type Case, passed } from './case.ts'
import { catalogue } from './catalogue.ts'

const lane = await openLane()
afterAll(() => lane?.stop())

/** Some of each level, those that need no waiting; `npm run conformance -- --self-test` judges each hole by every case. */
const usual = [
  ...['quote-shape', 'methods', 'mpp-challenge'],
  ...['copies-at-once', 'permit2-copies'],
  ...['underpay', 'other-resource', 'overdraw', 'upto-facilitator'],
  ...['5xx-after-settle', 'contract-wallet-flips', 'cancelled-while-settling'],
  ...['receipt', 'identifier-replay'],
]
const usualCases = catalogue.filter(({ id }) => usual.includes(id))

test('every case has a hole that it must find, and every hole a case', () => {
  expect(unmatched()).toEqual([])
  expect(usualCases).toHaveLength(usual.length)
  expect(new Set(usualCases.map(({ level }) => level)).size).toBe(5)
})

const correct = await judgeCorrect(lane, usualCases)

test('a seller without holes passes', () => {
  expect(correct.problems).toEqual([])
})

test.each(usual.filter((id) => holes[id]))('%s is found by its case, and by no other of its level', async (id) => {
  const level = catalogue.find((one) => one.id === id)?.level
  const ofLevel = usualCases.filter((one) => one.level === level)
  const { problems, failed } = await judgeHole(lane, id, casesTouched(correct.touched, id, ofLevel))
  expect(problems).toEqual([])
  expect(foundBy(id)).toEqual(expect.arrayContaining([...failed]))
  expect(failed).toContain(id)
})

test('a case that always passes, and one that always fails, are noticed', async () => {
  const underpay = catalogue.find(({ id }) => id === 'underpay') as Case
  const blind: Case = { ...underpay, run: async () => passed('looked away') }
  expect((await judgeHole(lane, 'underpay', [blind])).problems).toEqual(['underpay passed: looked away'])
  const wary: Case = { ...underpay, run: async () => ({ verdict: 'failed', seen: 'suspects everybody' }) }
  expect((await judgeHole(lane, undefined, [wary])).problems).toEqual(['underpay failed: suspects everybody'])
})
