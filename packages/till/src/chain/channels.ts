import { type Hex, isHex } from '@assay/protocol/bytes'
import { channelContract, erc3009Collector } from '@assay/protocol/typed-data/channel'
import { encodeWord } from '@assay/protocol/typed-data/words'
import { decodeFunctionResult, encodeFunctionData, parseAbi, toEventSelector, toFunctionSelector } from 'viem'
import { ChainUnreadable, type ChannelsPort, type ClaimedBalance } from './chain-port.ts'
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

const multicall = parseAbi(['function multicall(bytes[] data) returns (bytes[] results)'])

const blockTag = (at: bigint): Hex => `0x${at.toString(16)}`

const noAnswer = () =>
  new ChainUnreadable('the contract of payment channels gave no answer that enough endpoints agree on')

function wordsOf(answer: unknown, count: number): bigint[] {
  if (!isHex(answer) || answer.length !== 2 + count * 64) throw noAnswer()
  return Array.from({ length: count }, (_, n) => BigInt(`0x${answer.slice(2 + n * 64, 66 + n * 64)}`))
}

function resultsOf(answer: unknown, count: number): readonly Hex[] {
  if (!isHex(answer)) throw noAnswer()
  try {
    const results = decodeFunctionResult({ abi: multicall, data: answer })
    if (results.length === count) return results
  } catch {
    // Not a list.
  }
  throw noAnswer()
}

function claimedBalanceOf(answer: unknown): ClaimedBalance {
  const [balanceMicro, claimedMicro] = wordsOf(answer, 2)
  return { balanceMicro: balanceMicro as bigint, claimedMicro: claimedMicro as bigint }
}

/** The contract of payment channels on this chain. */
export function createChannelsPort(rpc: Rpc, network: Network): ChannelsPort {
  const call = (data: string, at: bigint) => rpc.agreed('eth_call', [{ to: channelContract, data }, blockTag(at)])
  const callAll = async (calls: readonly Hex[], at: bigint) =>
    resultsOf(await call(encodeFunctionData({ abi: multicall, args: [calls] }), at), calls.length)
  return {
    isDeployed: () => areDeployed(rpc, [channelContract, erc3009Collector]),
    async state(channelId, at) {
      const id = channelId.slice(2)
      const [channel, refunds, pending] = await callAll(
        [`${selectors.channels}${id}`, `${selectors.refundNonce}${id}`, `${selectors.pending}${id}`],
        at,
      )
      return {
        ...claimedBalanceOf(channel),
        refundNonce: wordsOf(refunds, 1)[0] as bigint,
        withdrawStartedAt: Number(wordsOf(pending, 2)[1]),
        atBlock: at,
      }
    },
    async claimedBalances(channelIds, at) {
      const calls = channelIds.map((id): Hex => `${selectors.channels}${id.slice(2)}`)
      return (await callAll(calls, at)).map(claimedBalanceOf)
    },
    async receiver(receiver, at) {
      const data = `${selectors.receivers}${encodeWord(receiver)}${encodeWord(network.usdc.address)}`
      const [claimed, settled] = wordsOf(await call(data, at), 2)
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
