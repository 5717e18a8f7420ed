import fc from 'fast-check'
import { expect, test } from 'vitest'
import { evaluate } from './evaluate.ts'
import { expectSame } from './search-compare.fixture.ts'
import { factsOf, history } from './search-facts.fixture.ts'
import { hole, withPolicy } from './search-holes.fixture.ts'
import { powerNames } from './types.ts'

/** The same few in every run of the suite; the command with a count takes new ones each time. */
const { HISTORIES, SEED = HISTORIES === undefined ? '1' : undefined } = process.env
const histories = Number(HISTORIES ?? 40)
const runs = (count: number) => ({
  numRuns: count,
  endOnFailure: process.env.SHRINK === undefined,
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
})

test('every field agrees with what everybody can do, found by trying it', { timeout: 3_600_000 }, () => {
  fc.assert(
    fc.property(history, (history) => expectSame(history, factsOf(history))),
    runs(histories),
  )
})

test('what was not read is missing, and makes nothing look smaller or larger', () => {
  fc.assert(
    fc.property(history, hole, (history, dig) => {
      const facts = factsOf(history)
      const [whole, evaluated] = [evaluate(facts), evaluate(dig(facts))]
      if (JSON.stringify(evaluated.missing) === JSON.stringify(whole.missing)) return
      expect(evaluated.complete).toBe(false)
      expect(['UNKNOWN', whole.verdict === 'ISSUER_CONTROLLED' ? 'ISSUER_CONTROLLED' : '']).toContain(evaluated.verdict)
      for (const name of powerNames)
        expect([name, 'unknown', whole.powers[name].now]).toContain(evaluated.powers[name].now)
    }),
    runs(histories * 3),
  )
})

test('a list that was not read whole is missing', () => {
  const dug = fc.sample(history, { numRuns: 200, seed: 5 }).flatMap((history) => {
    const facts = factsOf(history)
    return [...facts.policies.keys()].map((id) => evaluate(withPolicy(facts, id, { membersComplete: false })))
  })
  expect(dug.length).toBeGreaterThan(100)
  expect(dug.filter(({ complete }) => complete)).toEqual([])
})
