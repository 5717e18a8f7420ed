import { expect, test } from 'vitest'
import { type ChainExtension, demoAccount } from './index.ts'
import { startTestChain, usdcBalance } from './test-chain.fixture.ts'

const place = '0x00000000000000000000000000000000000070e5'

const toy: ChainExtension = async (request, chainId) => {
  await request('hardhat_setCode', [place, '0x60ff'])
  return async (method, params) => (method === 'toy_chain' ? chainId : request(method, params))
}

test('a chain has the contracts and answers of its extensions, each on top of those before it', async () => {
  const second: ChainExtension = async (request) => async (method, params) =>
    method === 'toy_twice' ? Number(await request('toy_chain')) * 2 : request(method, params)
  const chain = await startTestChain({ extensions: [toy, second] })
  expect(await chain.request('eth_getCode', [place, 'latest'])).toBe('0x60ff')
  expect(await chain.request('toy_chain')).toBe(8453)
  expect(await chain.request('toy_twice')).toBe(16_906)
  chain.control.failNext('toy_chain')
  await expect(chain.request('toy_chain')).rejects.toThrow()
})

test('further roles are funded and unlocked', async () => {
  const chain = await startTestChain({ roles: ['guest'] })
  const { address } = demoAccount('guest')
  expect(await usdcBalance(chain, address)).toBe(10n ** 12n)
  expect(await chain.request('eth_sign', [address, '0x01'])).toMatch(/^0x/)
  await expect(chain.request('eth_sign', [demoAccount('stranger').address, '0x01'])).rejects.toThrow('unknown account')
})
