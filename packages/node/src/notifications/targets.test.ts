import { expect, test } from 'vitest'
import { targetOf } from './targets.ts'

const problemOf = (target: string, demo = false) => {
  const read = targetOf('webhook', target, demo)
  return 'problem' in read ? read.problem : undefined
}

test('a webhook that no delivery would ever reach is refused when it is named', () => {
  for (const host of [
    '10.0.0.1',
    '127.0.0.1',
    '[::1]',
    '169.254.169.254',
    'localhost',
    'printer.local',
    'hooks.example.com:8443',
  ])
    expect(problemOf(`https://${host}/hook`), host).toMatch(/^The target cannot be reached: /)
  expect(problemOf('http://hooks.example.com/x')).toContain('https')
  expect(problemOf('https://user@hooks.example.com/x')).toContain('without user')
  expect(problemOf('https://10.0.0.1/hook', true)).toMatch(/^The target cannot be reached: /)
})

test('a public webhook is kept in one spelling, and a demo node also takes its own names', () => {
  expect(targetOf('webhook', 'HTTPS://Hooks.example.COM:443/x#y', false)).toEqual({
    target: 'https://hooks.example.com/x',
  })
  expect(targetOf('webhook', 'http://mine.test:8080/x', true)).toEqual({ target: 'http://mine.test:8080/x' })
})
