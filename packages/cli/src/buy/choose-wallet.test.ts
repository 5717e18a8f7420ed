import { baseNetwork } from '@assay/sdk'
import { expect, test } from 'vitest'
import { createTestTerminal } from '../terminal.fixture.ts'
import { chooseWallet, type WalletOptions } from './choose-wallet.ts'

const token = `0x${'ab'.repeat(20)}`
const networksOf = async (options: WalletOptions) =>
  chooseWallet('https://node.example/x', { dryRun: true, ...options }, createTestTerminal()).then(
    ({ networks }) => networks,
    (error: unknown) => String(error),
  )

test('--token pays with that token and no other; without its domain by Permit2 only', async () => {
  expect(await networksOf({ network: 'base' })).toEqual([baseNetwork])
  const named = { ...baseNetwork, usdc: token }
  expect(await networksOf({ network: 'base', token, tokenDomain: 'USD: X:1' })).toEqual([
    { ...named, name: 'USD: X', version: '1' },
  ])
  expect(await networksOf({ network: 'base', token })).toEqual([{ ...named, name: '', version: '' }])
})

test('any chain can be paid on by its id and its USDC, which is not taken for granted', async () => {
  const network = 'eip155:42161'
  expect(await networksOf({ network, usdc: token })).toEqual([
    { network, usdc: token, name: baseNetwork.name, version: baseNetwork.version },
  ])
  expect(await networksOf({ network, token, tokenDomain: 'USD X:1' })).toEqual([
    { network, usdc: token, name: 'USD X', version: '1' },
  ])
  expect(await networksOf({ network })).toContain('not known here')
  expect(await networksOf({ network: 'arbitrum', usdc: token })).toContain('unknown network: arbitrum')
  expect(await networksOf({ network: 'eip155:0', usdc: token })).toContain('unknown network')
})

test('a token is refused that is no address, whose chain is not named, or whose domain cannot be read', async () => {
  expect(await networksOf({ token })).toContain('--network')
  expect(await networksOf({ network: 'base', token: 'USDX' })).toContain('not an address')
  expect(await networksOf({ network: 'base', token, tokenDomain: 'USD X' })).toContain('--token-domain')
  expect(await networksOf({ network: 'base', tokenDomain: 'USD X:1' })).toContain('--token')
})
