import { encodeFunctionResult, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { createRpc, knownNetworks, type Network } from '../chain/index.ts'
import { systemClock } from '../kernel/clock.ts'
import { contractSignatures } from './open-chains.ts'

const network = knownNetworks.find(({ chainId }) => chainId === 8453) as Network
const multicall = parseAbi([
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3() returns (Result[] results)',
])
const answer = (success: boolean) =>
  encodeFunctionResult({
    abi: multicall,
    functionName: 'aggregate3',
    result: [{ success, returnData: `0x1626ba7e${'0'.repeat(56)}` }],
  })

test('one endpoint signed for every contract wallet', async () => {
  const check = (...valid: boolean[]) => {
    const endpoints = valid.map((isValid, index) => ({
      name: `operator-${index}`,
      send: async (calls: readonly { method: string }[]) =>
        calls.map(({ method }) => (method === 'eth_getCode' ? '0x60' : answer(isValid))),
    }))
    const rpcs = new Map([[network.caip2, createRpc(endpoints, { clock: systemClock })]])
    return contractSignatures(
      [],
      [network],
      rpcs,
    )({ chainId: network.chainId, address: `0x${'1'.repeat(40)}`, digest: `0x${'2'.repeat(64)}`, signature: '0x33' })
  }
  expect(await check(true, false)).toBe('could_not_check')
  expect(await check(true, false, false)).toBe('invalid')
  expect(await check(false, true, true)).toBe('valid')
  expect(await check(true)).toBe('valid')
})
