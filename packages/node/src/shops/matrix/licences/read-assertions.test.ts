import { expect, test } from 'vitest'
import { readAssertions } from './read-assertions.ts'

const line = 'finra-short-volume | paid | Jane Doe, operator | 2026-03-01 | agreement 4711'
const asserted = {
  source: 'finra-short-volume',
  allows: 'paid',
  assertedBy: 'Jane Doe, operator',
  assertedAt: '2026-03-01',
  reference: 'agreement 4711',
}

test('one line a source; remarks and empty lines are passed over', () => {
  const text = `# our licences\n\n${line}\n  ibkr-borrow|free|Jane Doe|2026-03-02|mail of 1 March | page 2\n`
  expect(readAssertions(text)).toEqual({
    problems: [],
    assertions: [
      asserted,
      {
        ...asserted,
        source: 'ibkr-borrow',
        allows: 'free',
        assertedBy: 'Jane Doe',
        assertedAt: '2026-03-02',
        reference: 'mail of 1 March | page 2',
      },
    ],
  })
})

test('the same as JSON', () => {
  const json = [
    {
      source: 'finra-short-volume',
      allows: 'paid',
      asserted_by: 'Jane Doe, operator',
      asserted_at: '2026-03-01',
      reference: 'agreement 4711',
    },
  ]
  expect(readAssertions(JSON.stringify(json))).toEqual({ problems: [], assertions: [asserted] })
})

test('every problem is reported with its place, and half a line asserts nothing', () => {
  const { assertions, problems } = readAssertions(
    `${line}\nno-such | paid | Jane Doe | 2026-03-01 | agreement\nsec-13f | paid\n`,
  )
  expect(assertions).toEqual([asserted])
  expect(problems.join('\n')).toMatch(/line 2\.source/)
  for (const name of ['asserted_by', 'asserted_at', 'reference'])
    expect(problems.join('\n')).toContain(`line 3.${name}`)
  expect(readAssertions('[{').problems).toEqual(['LICENCES: is not JSON'])
})
