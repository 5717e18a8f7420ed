import { expect, test } from 'vitest'
import { createChain, createRpc, type Network, type RpcEndpoint } from '../packages/till/src/chain/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'

const usdc = `0x${'22'.repeat(20)}` as const
const payer = `0x${'33'.repeat(20)}` as const
const nonce = `0x${'44'.repeat(32)}` as const
const transaction = `0x${'55'.repeat(32)}` as const
const blockHash = `0x${'66'.repeat(32)}` as const
const word = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const canceled = {
  address: usdc,
  topics: ['0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81', word(payer), nonce],
  data: '0x',
  blockNumber: '0x5',
  transactionHash: transaction,
  logIndex: '0x0',
}

function endpoint(name: string, claimsCancellation: boolean): RpcEndpoint {
  const receipt = {
    status: '0x1',
    transactionHash: transaction,
    blockNumber: '0x5',
    blockHash,
    gasUsed: '0x1',
    logs: claimsCancellation ? [canceled] : [],
  }
  const answers: Record<string, unknown> = {
    eth_getBlockByNumber: { number: '0x9', hash: blockHash, timestamp: '0x1' },
    eth_getLogs: claimsCancellation ? [canceled] : [],
    eth_getTransactionReceipt: receipt,
  }
  return { name, send: async (calls) => calls.map((call) => answers[call.method]) }
}

const checkWith = (endpoints: RpcEndpoint[]) =>
  createChain({
    network: { usdc: { address: usdc } } as unknown as Network,
    rpc: createRpc(endpoints, { clock: systemClock }),
    clock: systemClock,
    checkContractSignature: async () => 'invalid',
  }).settlementByNonce({ payer, payTo: usdc, amountMicro: 1n, nonce }, 0n)

test('one endpoint that tells of a cancellation cannot turn a payment into one that moved no money', async () => {
  // Whichever of them is asked first.
  const { status } = await checkWith([endpoint('liar', true), endpoint('honest', false)])
  expect(['could_not_read', 'absent']).toContain(status)
  expect(await checkWith([endpoint('one', true), endpoint('two', true)])).toMatchObject({ status: 'canceled' })
})
