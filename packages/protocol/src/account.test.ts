import { expect, test } from 'vitest'
import { didOfAccount, formatAccount, formatKeyId, parseAccount, parseKeyId, parsePkhDid } from './account.ts'

const mixed = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const account = { chainId: 8453, address: mixed.toLowerCase() as `0x${string}` }

test('an account is written in one form and read in any case', () => {
  expect(formatAccount(account)).toBe(`eip155:8453:${account.address}`)
  expect(parseAccount(`eip155:8453:${mixed}`)).toEqual(account)
  expect(parsePkhDid(didOfAccount(account))).toEqual(account)
  expect(parseKeyId(formatKeyId(account))).toEqual(account)
  expect(parseKeyId(`erc8128:8453:${mixed}`)).toEqual(account)
})

test('anything else is no account', () => {
  for (const text of [
    `eip155:0:${mixed}`,
    `eip155:08453:${mixed}`,
    `eip155:${'9'.repeat(16)}:${mixed}`,
    `eip155:8453:${mixed}0`,
    `eip155:8453:${mixed.slice(0, -1)}`,
    ` eip155:8453:${mixed}`,
    `solana:8453:${mixed}`,
    `eip155:${mixed}`,
    '',
  ]) {
    expect(parseAccount(text), text).toBeUndefined()
    expect(parsePkhDid(`did:pkh:${text}`), text).toBeUndefined()
    expect(parseKeyId(text.replace('eip155', 'erc8128')), text).toBeUndefined()
  }
  expect(parsePkhDid(`did:web:${formatAccount(account)}`)).toBeUndefined()
  expect(parseAccount(formatKeyId(account))).toBeUndefined()
  expect(parseKeyId(formatAccount(account))).toBeUndefined()
})
