import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import { permit2Address, permit2Proxies } from '@assay/protocol/typed-data/permit2'
import { encodeWord } from '@assay/protocol/typed-data/words'
import { toFunctionSelector } from 'viem'
import { ChainUnreadable, type KeyUse, type Permit2Port, type SettlementEvidence } from './chain-port.ts'
import type { Network } from './network.ts'
import { areDeployed, hasAgreedCode } from './payer-code.ts'
import { agreedReceipt, gasGwei, noAgreedReceipt, transfersOf, unreadable } from './read-settlement.ts'
import type { Rpc } from './rpc.ts'
import { agreedLogs } from './search-logs.ts'
import { addressTopic, calls, topics, word } from './usdc-abi.ts'

const selectors = {
  nonceBitmap: toFunctionSelector('function nonceBitmap(address,uint256)'),
  allowance: toFunctionSelector('function allowance(address,address)'),
}

const blockTag = (at: 'latest' | bigint): string => (typeof at === 'bigint' ? `0x${at.toString(16)}` : at)
const bitmapCall = (owner: Address, nonce: bigint) => ({
  to: permit2Address,
  data: `${selectors.nonceBitmap}${encodeWord(owner)}${encodeWord(nonce >> 8n)}`,
})

function required(answer: unknown): bigint {
  const value = word(answer)
  if (value === undefined) throw new ChainUnreadable('Permit2 gave an empty answer')
  return value
}

const permit = '((address,uint256),uint256,uint256)'
const eip2612 = '(uint256,uint256,bytes32,bytes32,uint8)'
const witness = { exact: '(address,uint256)', upto: '(address,address,uint256)' }

/** Where the words of a call to a proxy have the nonce and the owner: the tuples before them are written in place. */
const places: Readonly<Record<string, Readonly<Record<string, { nonce: number; owner: number }>>>> = {
  [permit2Proxies.exact]: {
    [toFunctionSelector(`function settle(${permit},address,${witness.exact},bytes)`)]: { nonce: 2, owner: 4 },
    [toFunctionSelector(`function settleWithPermit(${eip2612},${permit},address,${witness.exact},bytes)`)]: {
      ...{ nonce: 7, owner: 9 },
    },
  },
  [permit2Proxies.upto]: {
    [toFunctionSelector(`function settle(${permit},uint256,address,${witness.upto},bytes)`)]: { nonce: 2, owner: 5 },
    [toFunctionSelector(`function settleWithPermit(${eip2612},${permit},uint256,address,${witness.upto},bytes)`)]: {
      ...{ nonce: 7, owner: 10 },
    },
  },
}

type Transaction = { to?: string | null; input?: string }

/** What is asked of a chain about permits. */
function createReads(rpc: Rpc, network: Network, headNow: () => Promise<bigint>) {
  const used = async (owner: Address, nonce: bigint, at: 'latest' | bigint): Promise<boolean> => {
    const answer = await rpc.agreed('eth_call', [bitmapCall(owner, nonce), blockTag(at)], (value) => value as Json)
    return ((required(answer) >> (nonce & 0xffn)) & 1n) === 1n
  }
  return {
    rpc,
    network,
    used,
    transactionOf: async (hash: Hex): Promise<Transaction> => {
      const answer = await rpc.agreed('eth_getTransactionByHash', [hash], (value) => {
        const { to, input } = (value ?? {}) as Transaction
        return [to?.toLowerCase() ?? null, input ?? null]
      })
      if (!answer) throw new ChainUnreadable(`no agreed transaction ${hash}`)
      return answer as Transaction
    },
    receiptOf: (hash: Hex) => agreedReceipt(rpc, hash),
    /** The block whose transactions used the nonce, in a range that begins before it; a bit is never cleared. */
    flipBlock: async (owner: Address, nonce: bigint, from: bigint): Promise<bigint | undefined> => {
      let [unset, set] = [from, await headNow()]
      if (await used(owner, nonce, unset)) return undefined
      if (!(await used(owner, nonce, set))) return undefined
      while (set - unset > 1n) {
        const middle = (unset + set) / 2n
        if (await used(owner, nonce, middle)) set = middle
        else unset = middle
      }
      return set
    },
  }
}

type Reads = ReturnType<typeof createReads>

/**
 * Permit2 has no event for a nonce, only a bit: what happened to a permit is read from the blocks between which its bit
 * flips, and by the transfers of its owner in that block.
 */
export function createPermit2Port(rpc: Rpc, network: Network, headNow: () => Promise<bigint>): Permit2Port {
  const usdc = network.usdc.address
  const reads = createReads(rpc, network, headNow)
  return {
    used: reads.used,
    isDeployed: () => areDeployed(rpc, [permit2Address, permit2Proxies.exact, permit2Proxies.upto]),
    async payerStatus(payer, nonce) {
      const call = (target: object) => ({ method: 'eth_call', params: [target, 'latest'] })
      const [balance, allowance, bits, code] = await rpc.batch([
        call({ to: usdc, data: calls.balanceOf(payer) }),
        call({ to: usdc, data: `${selectors.allowance}${encodeWord(payer)}${encodeWord(permit2Address)}` }),
        call(bitmapCall(payer, nonce)),
        { method: 'eth_getCode', params: [payer, 'latest'] },
      ])
      return {
        balanceMicro: required(balance),
        allowanceMicro: required(allowance),
        nonceUsed: ((required(bits) >> (nonce & 0xffn)) & 1n) === 1n,
        hasCode: await hasAgreedCode(rpc, payer, code),
      }
    },
    async allowance(payer, blockNumber) {
      const data = `${selectors.allowance}${encodeWord(payer)}${encodeWord(permit2Address)}`
      return required(await rpc.agreed('eth_call', [{ to: usdc, data }, blockTag(blockNumber)]))
    },
    byTransaction: (transaction, permit) => readSubmitted(reads, transaction, permit).catch(unreadable),
    use: (payer, nonce, fromBlock) => readUse(reads, payer, nonce, fromBlock).catch(unreadable),
    async permitIn(transaction) {
      const { to, input = '0x' } = await reads.transactionOf(transaction)
      const place = places[to?.toLowerCase() ?? '']?.[input.slice(0, 10)]
      const wordAt = (index: number) => input.slice(10 + index * 64, 10 + (index + 1) * 64)
      if (!place || wordAt(place.owner).length !== 64) return undefined
      return { owner: `0x${wordAt(place.owner).slice(24)}` as Address, nonce: BigInt(`0x${wordAt(place.nonce)}`) }
    },
  }
}

async function readSubmitted(
  { network, used, transactionOf, receiptOf }: Reads,
  transaction: Hex,
  { payer, payTo, amountMicro, nonce }: Parameters<Permit2Port['byTransaction']>[1],
): Promise<SettlementEvidence> {
  const receipt = await receiptOf(transaction)
  if (receipt === undefined) return noAgreedReceipt
  if (!receipt) return { status: 'absent' }
  const reverted = { status: 'reverted', transaction, gasGwei: gasGwei(receipt) } as const
  const moved = transfersOf(network, receipt).filter(({ sender }) => sender === payer)
  const { input = '0x' } = await transactionOf(transaction)
  if (moved.length === 0 || !input.includes(encodeWord(nonce))) return reverted
  const block = BigInt(receipt.blockNumber)
  if (!(await used(payer, nonce, block)) || (await used(payer, nonce, block - 1n))) return reverted
  const ours = moved.find((one) => one.recipient === payTo && one.amountMicro === amountMicro)
  const [other] = moved
  if (!ours) return other ? { status: 'used_otherwise', transfer: other } : reverted
  const { blockNumber, blockHash, position } = ours
  return { status: 'confirmed', transaction, blockNumber, blockHash, position, gasGwei: gasGwei(receipt) }
}

async function readUse(
  { rpc, network, transactionOf, receiptOf, flipBlock }: Reads,
  payer: Address,
  nonce: bigint,
  fromBlock: bigint,
): Promise<KeyUse> {
  const block = await flipBlock(payer, nonce, fromBlock)
  if (block === undefined) return { status: 'absent' }
  const logs = await agreedLogs(rpc, {
    ...{ address: network.usdc.address, fromBlock: block, toBlock: block },
    topics: [topics.transfer, addressTopic(payer)],
  })
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))]
  const inputs = new Map<Hex, Transaction>()
  for (const hash of hashes) inputs.set(hash, await transactionOf(hash))
  const named = hashes.filter((hash) => inputs.get(hash)?.input?.includes(encodeWord(nonce)))
  // A wrapper may hide what it calls; a call of a proxy with another permit is surely not this one.
  const hidden = hashes.filter((hash) => !((inputs.get(hash)?.to?.toLowerCase() ?? '') in places))
  const [carrier] = [...named, ...hidden]
  const receipt = carrier === undefined ? undefined : await receiptOf(carrier)
  // What an EIP-3009 authorization carried is no permit's.
  const transfer =
    receipt &&
    transfersOf(network, receipt).find(({ sender, paymentKey }) => sender === payer && paymentKey === undefined)
  if (transfer) return { status: 'transfer', transfer }
  const answer = await rpc.agreed(
    'eth_getBlockByNumber',
    [blockTag(block), false],
    (value) => (value as { hash: Hex } | null)?.hash ?? null,
  )
  const blockHash = (answer as { hash: Hex } | null | undefined)?.hash
  if (!blockHash) return { status: 'could_not_read', reason: 'no agreed block' }
  return { status: 'canceled', blockNumber: block, blockHash }
}
