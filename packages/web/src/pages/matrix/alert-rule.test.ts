import { expect, test } from 'vitest'
import { fieldsOf, ruleOf, targetOf } from './alert-rule.ts'

test('an alert waits for a number of the live tier, spelled as the node spells it', () => {
  const column = (name: string, unit: string, tier = 'live') => ({ name, unit, tier, meaning: '' })
  const columns = [column('score', 'percentile'), column('as_of', 'time'), column('factor', 'points', 'vip')]
  expect(fieldsOf(columns).map(({ name }) => name)).toEqual(['score'])
  expect(ruleOf('squeeze', 'GME', { field: 'score', operator: '>=', figure: '95' })).toBe('squeeze:GME:score>=95')
  for (const figure of ['', 'many', '1e9', '1,5'])
    expect(ruleOf('squeeze', 'GME', { field: 'score', operator: '>=', figure })).toBeUndefined()
})

test('it is sent to a webhook or an e-mail address', () => {
  expect(targetOf('https://example.com/hook')).toEqual({ kind: 'webhook', target: 'https://example.com/hook' })
  expect(targetOf('me@example.com')).toEqual({ kind: 'email', target: 'me@example.com' })
  for (const text of ['', 'example.com', 'me@', 'ftp://x']) expect(targetOf(text)).toBeUndefined()
})
