import { expect, test } from 'vitest'
import { asProblem, problemFrom } from './problem.ts'

test('a problem document is shown in its own words', () => {
  const problem = problemFrom(409, { title: 'T', detail: 'D', hint: 'H', code: 'c', request_id: 'r' })
  expect(problem).toMatchObject({ message: 'D', hint: 'H', status: 409, code: 'c', requestId: 'r' })
})

test('an answer that is no problem document still says something', () => {
  for (const body of [undefined, null, 'text', 7, { title: 9 }])
    expect(problemFrom(502, body).message).toBe('The node answered 502.')
})

test('a wrong field is named as it is in a form', () => {
  const problems = [
    { field: 'params.id', problem: 'must be the id of an attestation' },
    { field: 'body.price_usd', problem: 'is required' },
  ]
  expect(problemFrom(400, { title: 'T', detail: 'D', hint: 'see `problems`', problems })).toMatchObject({
    message: 'Id must be the id of an attestation; price usd is required.',
    hint: 'Correct it; nothing was charged.',
  })
})

test('what would be refused again is known as such', () => {
  expect(problemFrom(400, { title: 'T', retryable: false }).retryable).toBe(false)
  expect(problemFrom(503, { title: 'T', retryable: true }).retryable).toBe(true)
  expect(problemFrom(502, undefined).retryable).toBe(true)
})

test('a wallet that says no is no failure of the node', () => {
  const said = { code: 4001, message: 'User rejected' }
  for (const thrown of [said, Object.assign(new Error(said.message), said)])
    expect(asProblem(thrown)).toMatchObject({ hint: 'Nothing was signed.' })
})

test('errors of the sdk keep the hint, or what the node said', () => {
  expect(asProblem(Object.assign(new Error('E'), { hint: 'do this' }))).toMatchObject({ message: 'E', hint: 'do this' })
  const refused = Object.assign(new Error('E'), { details: { status: 403, problem: { title: 'No', hint: 'sign' } } })
  expect(asProblem(refused)).toMatchObject({ message: 'No', hint: 'sign', status: 403 })
})

test('a node that is gone is named as such', () => {
  const cause = new TypeError('Failed to fetch')
  expect(asProblem(cause).message).toBe('The node cannot be reached.')
  const below = Object.assign(new Error('The request failed', { cause }), { hint: 'Nothing was signed.' })
  expect(asProblem(below)).toMatchObject({ message: 'The node cannot be reached.', hint: 'Nothing was signed.' })
})
