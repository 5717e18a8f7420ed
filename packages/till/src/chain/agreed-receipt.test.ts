import { zeroAddress } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { createChain, createRpc, knownNetworks, type Network, type RpcEndpoint } from './index.ts'

const network = knownNetworks[0] as Network
const hash = `0x${'1'.repeat(64)}` as const
const receipt = {
  status: '0x0',
  transactionHash: hash,
  blockNumber: '0x64',
  blockHash: hash,
  gasUsed: '0xc350',
  logs: [],
}
const endpoint = (name: string, cost: object): RpcEndpoint => ({
  name,
  send: async (calls) => calls.map(() => ({ ...receipt, ...cost })),
})

test('one endpoint cannot make a transaction look dearer than the others say it was', async () => {
  const honest = { effectiveGasPrice: '0x3b9aca00', l1Fee: '0x3b9aca00' }
  const gasOf = async (...costs: object[]) => {
    const rpc = createRpc(
      costs.map((cost, index) => endpoint(`operator${index}`, cost)),
      { clock: systemClock },
    )
    const chain = createChain({ network, rpc, clock: systemClock, checkContractSignature: async () => 'invalid' })
    const expected = { payer: zeroAddress, payTo: zeroAddress, amountMicro: 1n, nonce: hash }
    return chain.settlementByTransaction(hash, expected)
  }
  const wanted = { status: 'reverted', transaction: hash, gasGwei: 50_001n }
  expect(await gasOf(honest, honest)).toEqual(wanted)
  expect(await gasOf({ ...honest, l1Fee: '0xffffffffffffffff' }, honest)).toEqual(wanted)
  expect(await gasOf(honest, { ...honest, effectiveGasPrice: '0xffffffffffff' })).toEqual(wanted)
  // What a provider leaves out keeps no sale from being seen.
  expect(await gasOf({ effectiveGasPrice: '0x3b9aca00' }, honest)).toEqual({ ...wanted, gasGwei: 50_000n })
})
