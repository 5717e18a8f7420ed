import type { Hex } from '@assay/protocol/bytes'
import { encodeFunctionResult, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { ChainUnreadable } from './chain-port.ts'
import { createChannelsPort } from './channels.ts'
import { knownNetworks, type Network } from './network.ts'
import type { Rpc } from './rpc.ts'

const abi = parseAbi(['function multicall(bytes[] data) returns (bytes[] results)'])
const word = (value: bigint) => value.toString(16).padStart(64, '0')
const listOf = (...results: Hex[]) => encodeFunctionResult({ abi, result: results })
const ids: Hex[] = [`0x${word(1n)}`, `0x${word(2n)}`]
const balances = (answer: unknown) =>
  createChannelsPort({ agreed: async () => answer } as unknown as Rpc, knownNetworks[0] as Network).claimedBalances(
    ids,
    9n,
  )

test('reads many channels in one call', async () => {
  expect(await balances(listOf(`0x${word(5n)}${word(3n)}`, `0x${word(0n)}${word(0n)}`))).toEqual([
    { balanceMicro: 5n, claimedMicro: 3n },
    { balanceMicro: 0n, claimedMicro: 0n },
  ])
})

test.each([
  ['none', undefined],
  ['nothing, as of an address without code', '0x'],
  ['what is no list', `0x${word(5n)}${word(3n)}`],
  ['fewer results', listOf(`0x${word(5n)}${word(3n)}`)],
  ['a result that is cut off', listOf(`0x${word(5n)}${word(3n)}`, `0x${word(5n)}`)],
])('an answer is not taken for balances: %s', async (_, answer) => {
  await expect(balances(answer)).rejects.toThrow(ChainUnreadable)
})
