import { expect, test } from 'vitest'
import { siweMessage } from './siwe-message.ts'

const account = { chainId: 8453, address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' } as const
const info = {
  domain: 'node.test',
  uri: 'https://node.test/auth',
  version: '1',
  nonce: 'abcdefgh',
  issuedAt: '2026-06-01T00:00:00Z',
} as const

test('the shortest message keeps the empty line in the place of a statement', () => {
  expect(siweMessage(info, account)).toBe(
    [
      'node.test wants you to sign in with your Ethereum account:',
      '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      '',
      '',
      'URI: https://node.test/auth',
      'Version: 1',
      'Chain ID: 8453',
      'Nonce: abcdefgh',
      'Issued At: 2026-06-01T00:00:00Z',
    ].join('\n'),
  )
})

test('each optional field has its line, in the order of EIP-4361', () => {
  const lines = siweMessage(
    {
      ...info,
      statement: 'Read my invoices.',
      expirationTime: '2026-06-02T00:00:00Z',
      notBefore: '2026-05-31T00:00:00Z',
      requestId: 'r-1',
      resources: ['https://node.test/a', 'https://node.test/b'],
    },
    account,
  ).split('\n')
  expect(lines.slice(2, 5)).toEqual(['', 'Read my invoices.', ''])
  expect(lines.slice(9)).toEqual([
    ...['Issued At: 2026-06-01T00:00:00Z', 'Expiration Time: 2026-06-02T00:00:00Z', 'Not Before: 2026-05-31T00:00:00Z'],
    ...['Request ID: r-1', 'Resources:', '- https://node.test/a', '- https://node.test/b'],
  ])
})
