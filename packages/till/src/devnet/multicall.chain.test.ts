import { encodeFunctionData, parseEventLogs } from 'viem'
import { expect, test } from 'vitest'
import { contractArtifacts, multicall3Address } from './index.ts'
import {
  authorization,
  clients,
  operator,
  send,
  signAuthorization,
  signSettlerTransaction,
  startTestChain,
  transferCall,
  usdcAbi,
  usdcBalance,
} from './test-chain.fixture.ts'

test('one transaction settles a hundred authorizations; a bad one fails alone', async () => {
  const devnet = await startTestChain()
  const { reader } = clients(devnet)
  const before = await usdcBalance(devnet, operator)
  const messages = Array.from({ length: 100 }, () => authorization())
  const calls = await Promise.all(
    messages.map(async (message, index) => {
      const signed = index === 50 ? { ...message, value: 7n } : message
      return {
        target: devnet.usdc,
        allowFailure: true,
        callData: transferCall(message, await signAuthorization(devnet, signed)),
      }
    }),
  )
  const data = encodeFunctionData({ abi: contractArtifacts.multicall3.abi, functionName: 'aggregate3', args: [calls] })
  const { data: simulated } = await reader.call({ to: multicall3Address, data })
  expect(simulated?.length).toBeGreaterThan(66)
  const transaction = { nonce: 0, to: multicall3Address, data, gas: 30_000_000n }
  const hash = await send(devnet, await signSettlerTransaction(devnet, transaction))
  const { logs, status } = await reader.getTransactionReceipt({ hash })
  expect(status).toBe('success')
  expect(parseEventLogs({ abi: usdcAbi, logs, eventName: 'AuthorizationUsed' })).toHaveLength(99)
  expect(await usdcBalance(devnet, operator)).toBe(before + 99_000n)
})

test('viem reads through Multicall3 at its canonical address', async () => {
  const devnet = await startTestChain()
  const { reader } = clients(devnet)
  const contract = { address: devnet.usdc, abi: usdcAbi } as const
  const results = await reader.multicall({
    multicallAddress: multicall3Address,
    contracts: [
      { ...contract, functionName: 'symbol' },
      { ...contract, functionName: 'nonexistent' },
    ],
  })
  expect(results.map(({ status }) => status)).toEqual(['success', 'failure'])
})
