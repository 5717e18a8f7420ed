import { zeroAddress } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { type ChainPort, ChainUnreadable, createChain, createRpc, knownNetworks, type RpcEndpoint } from './index.ts'

const nonce = `0x${'0'.repeat(64)}` as const
const endpoint = (name: string, code: string): RpcEndpoint => ({
  name,
  send: async (calls) => calls.map(({ method }) => (method === 'eth_getCode' ? code : `0x${'7'.padStart(64, '0')}`)),
})
const silent: RpcEndpoint = { name: 'silent', send: () => Promise.reject(new Error('no answer')) }

function chainOf(endpoints: readonly RpcEndpoint[]): ChainPort {
  const [network] = knownNetworks
  if (!network) throw new Error('no network')
  const rpc = createRpc(endpoints, { clock: systemClock })
  return createChain({ network, rpc, clock: systemClock, checkContractSignature: async () => 'invalid' })
}

async function hasCode(endpoints: readonly RpcEndpoint[]): Promise<boolean[]> {
  const chain = chainOf(endpoints)
  const statuses = [chain.payerStatus(zeroAddress, nonce), chain.permit2.payerStatus(zeroAddress, 0n)]
  return (await Promise.all(statuses)).map((status) => status.hasCode)
}

test('a plain wallet is not turned away because one endpoint says that it has code', async () => {
  const honest = [endpoint('one', '0x'), endpoint('two', '0x')]
  expect(await hasCode([endpoint('liar', '0x60'), ...honest])).toEqual([false, false])
  expect(await hasCode([...honest, endpoint('liar', '0x60')])).toEqual([false, false])
})

test('a payer has code where enough endpoints say so, and nothing is decided where they do not agree', async () => {
  expect(await hasCode([endpoint('one', '0x60'), endpoint('two', '0x60')])).toEqual([true, true])
  expect(await hasCode([endpoint('only', '0x60')])).toEqual([true, true])
  await expect(hasCode([endpoint('one', '0x60'), silent])).rejects.toThrow(ChainUnreadable)
})

test('contracts are there, or missing, where enough endpoints say so', async () => {
  const isDeployed = (...codes: string[]) => {
    const { permit2, channels } = chainOf(codes.map((code, index) => endpoint(`operator${index}`, code)))
    return Promise.all([permit2.isDeployed(), channels.isDeployed()])
  }
  expect(await isDeployed('0x60', '0x', '0x')).toEqual([false, false])
  expect(await isDeployed('0x', '0x60', '0x60')).toEqual([true, true])
  await expect(isDeployed('0x60', '0x')).rejects.toThrow(ChainUnreadable)
})
