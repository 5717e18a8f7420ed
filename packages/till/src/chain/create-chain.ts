import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { Clock } from '../kernel/clock.ts'
import { type BlockRef, type ChainPort, ChainUnreadable, type TransferLog } from './chain-port.ts'
import { createChannelsPort } from './channels.ts'
import type { Network } from './network.ts'
import { hasAgreedCode } from './payer-code.ts'
import { createPermit2Port } from './permit2.ts'
import { findByNonce, findNonceUse, readSettlement, readTransfers } from './read-settlement.ts'
import type { Rpc } from './rpc.ts'
import { agreedLogs, type RpcLog } from './search-logs.ts'
import { simulateTransfer } from './simulate-transfer.ts'
import { addressTopic, calls, topicAddress, topics, word } from './usdc-abi.ts'
import { verifyAsset } from './verify-asset.ts'

export type ChainOptions = {
  network: Network
  rpc: Rpc
  clock: Clock
  /** ERC-1271 and ERC-6492, from the proofs layer. */
  checkContractSignature: ChainPort['checkContractSignature']
  headAgeMsMax?: number
  /** A final block stays final, so readers may share one for longer. */
  finalAgeMsMax?: number
  /** For those that are patient. */
  patientAgeMsMax?: number
}

const blockTag = (number: bigint): Hex => `0x${number.toString(16)}`

export function createChain(options: ChainOptions): ChainPort {
  const { network, rpc, clock } = options
  const usdc = network.usdc.address
  const sharedReads = { ...rpc, agreed: shareInFlight(rpc.agreed) }
  const ethCall = (data: Hex, tag: string) => ({ method: 'eth_call', params: [{ to: usdc, data }, tag] })
  const head = rememberFor(clock, options.headAgeMsMax ?? 500, async () => (await readHeight(rpc, 'latest')).block)
  const finalBlock = rememberFor(clock, options.finalAgeMsMax ?? options.headAgeMsMax ?? 500, () => readFinalized(rpc))
  const usdcBalances: ChainPort['usdcBalances'] = async (owners, blockNumber) => {
    const asked = owners.map((owner) => ethCall(calls.balanceOf(owner), blockTag(blockNumber)))
    const agreed = await rpc.agreedBatch(asked)
    if (agreed === undefined) throw new ChainUnreadable('the endpoints do not agree on a balance')
    return agreed.map(required)
  }

  return {
    network,
    head: () => head(),
    finalizedBlock: (how) => finalBlock(how && options.patientAgeMsMax),
    async blockHash(number) {
      const answer = await rpc.agreed(
        'eth_getBlockByNumber',
        [blockTag(number), false],
        (block) => (block as { hash: Hex } | null)?.hash ?? null,
      )
      return (answer as { hash: Hex } | null | undefined)?.hash
    },
    async usdcBalance(owner, blockNumber) {
      if (blockNumber !== undefined) return (await usdcBalances([owner], blockNumber))[0] as Micro
      return required((await rpc.batch([ethCall(calls.balanceOf(owner), 'latest')]))[0])
    },
    usdcBalances,
    async payerStatus(payer, nonce) {
      const [balance, used, code] = await rpc.batch([
        ethCall(calls.balanceOf(payer), 'latest'),
        ethCall(calls.authorizationState(payer, nonce), 'latest'),
        { method: 'eth_getCode', params: [payer, 'latest'] },
      ])
      const hasCode = await hasAgreedCode(rpc, payer, code)
      return { balanceMicro: required(balance), nonceUsed: required(used) !== 0n, hasCode }
    },
    async authorizationUsed(payer, nonce, at) {
      const answer = await rpc.agreed(
        'eth_call',
        [{ to: usdc, data: calls.authorizationState(payer, nonce) }, typeof at === 'bigint' ? blockTag(at) : at],
        (value) => value as Json,
      )
      return required(answer) !== 0n
    },
    settlementByTransaction: (transaction, expected) => readSettlement(sharedReads, network, transaction, expected),
    settlementByNonce: async (expected, fromBlock) => {
      const head = await readHeight(rpc, 'latest').catch(() => undefined)
      if (!head) return { status: 'could_not_read', reason: 'the head could not be read' }
      return findByNonce(rpc, network, expected, fromBlock, head.block.number)
    },
    async transferLogs(of, fromBlock, toBlock) {
      const addresses = [of].flat().map(addressTopic)
      const logs = await agreedLogs(rpc, {
        address: usdc,
        topics: [topics.transfer, null, addresses],
        orTopics: [topics.transfer, addresses],
        fromBlock,
        toBlock,
      })
      return logs.map(toTransferLog)
    },
    transfersIn: (transaction) => readTransfers(sharedReads, network, transaction),
    async nonceUse(payer, nonce, fromBlock) {
      const head = await readHeight(rpc, 'latest').catch(() => undefined)
      if (!head) return { status: 'could_not_read', reason: 'the head could not be read' }
      return findNonceUse(sharedReads, network, { payer, nonce }, { fromBlock, toBlock: head.block.number })
    },
    simulateTransfer: (authorization, signature) => simulateTransfer(rpc, network, authorization, signature),
    permit2: createPermit2Port(rpc, network, async () => (await readHeight(rpc, 'latest')).block.number),
    channels: createChannelsPort(rpc, network),
    checkContractSignature: options.checkContractSignature,
    verifyAsset: () => verifyAsset(rpc, network),
  }
}

/** A batch of settlements shares one transaction: its receipt is asked for once, however many wait for it. */
function shareInFlight(agreed: Rpc['agreed']): Rpc['agreed'] {
  const inFlight = new Map<string, Promise<unknown>>()
  return (method, params, ...how) => {
    const key = `${method} ${params.join(' ')}`
    const known = inFlight.get(key)
    if (known) return known
    const answer = agreed(method, params, ...how).finally(() => inFlight.delete(key))
    inFlight.set(key, answer)
    return answer
  }
}

function required(answer: unknown): bigint {
  const value = word(answer)
  if (value === undefined) throw new ChainUnreadable('the asset gave an empty answer')
  return value
}

type RpcBlock = { number: Hex; hash: Hex; timestamp: Hex }

/** Endpoints that are this close together are asked no third opinion about the head. */
const closeBlocks = 3n

type Height = { block: BlockRef; alike: boolean }

/**
 * The highest block with enough endpoints behind it. One alone could call a block final that is not, or show one past
 * the time of an authorization, and money would be paid out or given up on its word.
 */
async function readHeight(rpc: Rpc, tag: 'latest' | 'finalized'): Promise<Height> {
  const height = await rpc.collect('eth_getBlockByNumber', [tag, false], (answers, complete): Height | undefined => {
    const blocks = answers
      .flatMap((answer) => parseBlock(answer) ?? [])
      .sort((one, other) => Number(other.number - one.number))
    const [first, block] = [blocks[0], blocks[rpc.quorum - 1]]
    if (!first || !block) return undefined
    const alike = first.hash === block.hash && first.timestamp === block.timestamp && first.number === block.number
    const isEnough = alike || (tag === 'latest' && first.number - block.number <= closeBlocks)
    return isEnough || complete ? { block, alike } : undefined
  })
  if (!height) throw new ChainUnreadable(`too few endpoints know a ${tag} block`)
  return height
}

/** Unless they name the same block, it is read once more by number: those further on must show the same one there. */
async function readFinalized(rpc: Rpc): Promise<BlockRef> {
  const { block, alike } = await readHeight(rpc, 'finalized')
  if (alike) return block
  const agreed = await rpc.agreed('eth_getBlockByNumber', [blockTag(block.number), false], (answer) => {
    const { hash, timestamp } = (answer ?? {}) as Partial<RpcBlock>
    return [hash ?? null, timestamp ?? null]
  })
  const found = parseBlock(agreed)
  if (!found) throw new ChainUnreadable('no finalized block')
  return found
}

function parseBlock(answer: unknown): BlockRef | undefined {
  const { number, hash, timestamp } = (answer ?? {}) as Partial<RpcBlock>
  if (!isQuantity(number) || !isQuantity(timestamp) || typeof hash !== 'string') return undefined
  return { number: BigInt(number), hash, timestamp: Number(BigInt(timestamp)) }
}

const isQuantity = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-f]{1,16}$/i.test(value)

/** Many payments at once need one head: it is read once and shared for a moment. */
function rememberFor<T>(clock: Clock, defaultMs: number, read: () => Promise<T>): (ageMsMax?: number) => Promise<T> {
  let known: { value: Promise<T>; atMs: number } | undefined
  return (ageMsMax = defaultMs) => {
    if (known && clock.monotonicMs() - known.atMs < ageMsMax) return known.value
    const value = read()
    const entry = { value, atMs: clock.monotonicMs() }
    known = entry
    value.catch(() => {
      if (known === entry) known = undefined
    })
    return value
  }
}

function toTransferLog(log: RpcLog): TransferLog {
  return {
    transaction: log.transactionHash,
    blockNumber: BigInt(log.blockNumber),
    logIndex: Number(BigInt(log.logIndex)),
    sender: topicAddress(log.topics[1] ?? '') as Address,
    recipient: topicAddress(log.topics[2] ?? '') as Address,
    amountMicro: BigInt(log.data),
  }
}
