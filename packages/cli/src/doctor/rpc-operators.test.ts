import { expect, test } from 'vitest'
import { checkOperators } from './rpc-operators.ts'

const check = (...rpcUrls: string[]) => checkOperators({ caip2: 'eip155:8453', rpcUrls })

test('three operators are well, fewer are a warning that says what waits', () => {
  expect(check('https://a.example/1', 'https://b.example', 'https://c.example')).toMatchObject({ status: 'ok' })
  expect(check('https://a.example', 'https://b.example')).toMatchObject({
    status: 'warn',
    detail: '2 operators: while one is down nothing is sold on this chain, and payouts wait',
  })
  expect(check('https://a.example')).toMatchObject({
    status: 'warn',
    detail: '1 operator: what it says about money is believed without a second one',
  })
})

test('two URLs of one host are one operator', () => {
  expect(check('https://a.example/1', 'https://A.example:8443/2', 'https://b.example').detail).toMatch(/^2 operators/)
})
