import { type Hex, isHex } from '@assay/protocol/bytes'
import { channelContract, erc3009Collector } from '@assay/protocol/typed-data/channel'
import { encodeWord } from '@assay/protocol/typed-data/words'
import { toEventSelector, toFunctionSelector } from 'viem'
import { ChainUnreadable, type ChannelsPort } from './chain-port.ts'
import type { Network } from './network.ts'
import { areDeployed } from './payer-code.ts'
import { agreedReceipt } from './read-settlement.ts'
import type { Rpc } from './rpc.ts'
import { agreedStep } from './search-logs.ts'
import { addressTopic, topicAddress } from './usdc-abi.ts'

const selectors = {
  channels: toFunctionSelector('function channels(bytes32)'),
  refundNonce: toFunctionSelector('function refundNonce(bytes32)'),
  pending: toFunctionSelector('function pendingWithdrawals(bytes32)'),
  receivers: toFunctionSelector('function receivers(address,address)'),
}
const events = {
  settled: toEventSelector('event Settled(address indexed,address indexed,address indexed,uint128)'),
  withdrawInitiated: toEventSelector('event WithdrawInitiated(bytes32 indexed,uint128,uint40)'),
}

const blockTag = (at: bigint): Hex => `0x${at.toString(16)}`

/** The contract of payment channels on this chain. */
export function createChannelsPort(rpc: Rpc, network: Network): ChannelsPort {
  const read = async (data: string, at: bigint, words: number): Promise<bigint[]> => {
    const answer = await rpc.agreed('eth_call', [{ to: channelContract, data }, blockTag(at)])
    if (!isHex(answer) || answer.length !== 2 + words * 64)
      throw new ChainUnreadable('the contract of payment channels gave no answer that enough endpoints agree on')
    return Array.from({ length: words }, (_, n) => BigInt(`0x${answer.slice(2 + n * 64, 66 + n * 64)}`))
  }
  return {
    isDeployed: () => areDeployed(rpc, [channelContract, erc3009Collector]),
    async state(channelId, at) {
      const id = channelId.slice(2)
      const [balance, refunds, pending] = await Promise.all([
        read(`${selectors.channels}${id}`, at, 2),
        read(`${selectors.refundNonce}${id}`, at, 1),
        read(`${selectors.pending}${id}`, at, 2),
      ])
      return {
        balanceMicro: balance[0] as bigint,
        claimedMicro: balance[1] as bigint,
        refundNonce: refunds[0] as bigint,
        withdrawStartedAt: Number(pending[1]),
        atBlock: at,
      }
    },
    async claimedBalance(channelId, at) {
      const [balanceMicro, claimedMicro] = await read(`${selectors.channels}${channelId.slice(2)}`, at, 2)
      return { balanceMicro: balanceMicro as bigint, claimedMicro: claimedMicro as bigint }
    },
    async receiver(receiver, at) {
      const data = `${selectors.receivers}${encodeWord(receiver)}${encodeWord(network.usdc.address)}`
      const [claimed, settled] = await read(data, at, 2)
      return { claimedMicro: claimed as bigint, settledMicro: settled as bigint }
    },
    async withdrawals(fromBlock, toBlock) {
      const { answers, toBlock: upTo } = await agreedStep(rpc, {
        ...{ fromBlock, toBlock, pieces: 1 },
        filters: [{ address: channelContract, topics: [events.withdrawInitiated] }],
      })
      return { channelIds: answers.flat().flatMap(({ topics: [, id] }) => (id === undefined ? [] : [id])), upTo }
    },
    async settledIn(transaction, receiver) {
      const receipt = await agreedReceipt(rpc, transaction)
      if (!receipt) throw new ChainUnreadable(`no agreed receipt of ${transaction}`)
      return receipt.logs
        .filter(
          ({ address, topics: [event, to = '', token = ''] }) =>
            address.toLowerCase() === channelContract &&
            event === events.settled &&
            topicAddress(to) === receiver &&
            token.toLowerCase() === addressTopic(network.usdc.address),
        )
        .map(({ data }) => BigInt(data))
    },
  }
}
