import { type Hex, isHex } from '@assay/protocol/bytes'
import type { RpcCall } from '@assay/till/chain'
import type { PinnedBlock } from '../facts.ts'
import { agree, askAll, type Meter, type Panel, type Reply } from './panel.ts'

export type BlockTag = 'latest' | 'safe' | 'finalized'

/** The chain could not be read well enough to say anything. Answered with 503, never with a verdict. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
  readonly code: string

  constructor(code: string, detail: string) {
    super(detail)
    this.code = code
  }
}

const quantityPattern = /^0x(?:0|[1-9a-f][0-9a-f]{0,13})$/i

export function parseBlock(value: unknown): PinnedBlock | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { number, hash, timestamp, stateRoot } = value as Record<string, unknown>
  if (typeof number !== 'string' || !quantityPattern.test(number)) return undefined
  if (typeof timestamp !== 'string' || !quantityPattern.test(timestamp)) return undefined
  if (!isHex(hash, 32) || !isHex(stateRoot, 32)) return undefined
  return {
    number: BigInt(number),
    hash: hash.toLowerCase() as Hex,
    timestamp: Number(BigInt(timestamp)),
    stateRoot: stateRoot.toLowerCase() as Hex,
  }
}

const blockKey = (block: PinnedBlock) => `${block.number} ${block.hash} ${block.timestamp} ${block.stateRoot}`
const blockOf = (reply: Reply | undefined) => (reply?.ok ? parseBlock(reply.value) : undefined)
const byNumber = (number: bigint): RpcCall => ({
  method: 'eth_getBlockByNumber',
  params: [`0x${number.toString(16)}`, false],
})

/** The highest block that enough endpoints have, with one hash. */
export async function pinBlock(panel: Panel, tag: BlockTag, meter: Meter): Promise<PinnedBlock> {
  meter.pin += 1
  const heads = (await askAll(panel, [{ method: 'eth_getBlockByNumber', params: [tag, false] }])).map(([reply]) =>
    blockOf(reply),
  )
  const highest = heads.flatMap((head) => head ?? []).sort((a, b) => Number(b.number - a.number))
  const reached = highest[panel.quorum - 1]
  if (reached === undefined) throw new Unreadable('no_head', 'too few endpoints gave their newest block')
  const direct = agree(panel, heads, blockKey)
  if (direct.status === 'agreed') return direct.value
  meter.pin += 1
  const there = await askAll(panel, [byNumber(reached.number)])
  const outcome = agree(
    panel,
    there.map(([reply]) => blockOf(reply)),
    blockKey,
  )
  if (outcome.status !== 'agreed')
    throw new Unreadable('no_agreed_head', 'the endpoints do not agree on a newest block')
  return outcome.value
}

/** A block by its number, as enough endpoints have it. */
export async function pinNumber(panel: Panel, number: bigint, meter: Meter): Promise<PinnedBlock> {
  meter.pin += 1
  const replies = await askAll(panel, [byNumber(number)])
  const blocks = replies.map(([reply]) => blockOf(reply))
  const outcome = agree(panel, blocks, blockKey)
  if (outcome.status === 'agreed') return outcome.value
  throw new Unreadable('no_agreed_block', `the endpoints do not agree on block ${number}`)
}

/** True if the pinned block is still the one at its height. */
export async function isStillThere(panel: Panel, block: PinnedBlock, meter: Meter): Promise<boolean> {
  meter.recheck += 1
  const replies = await askAll(panel, [byNumber(block.number)])
  // A chain that got shorter has nothing at that height: an answer too, and a clear one.
  const said = replies.map(([reply]) => (reply?.ok && reply.value === null ? 'gone' : blockOf(reply)?.hash))
  const outcome = agree(panel, said, (text) => text)
  if (outcome.status === 'agreed') return outcome.value === block.hash
  if (outcome.status === 'disagreement') return false
  throw new Unreadable('recheck_failed', 'the pinned block could not be read again')
}
