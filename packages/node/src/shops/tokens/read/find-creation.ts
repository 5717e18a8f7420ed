import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { codeMarker, factoryAddress, topicHashes } from '../abi/b20.ts'
import type { PinnedBlock } from '../facts.ts'
import { type LogSource, usableLogs } from './collect-logs.ts'
import type { RawLog } from './decode-events.ts'
import { agree, askAll } from './panel.ts'
import { readLogs } from './read-logs.ts'
import { encodeWord } from './words.ts'

const createdTopic = topicHashes['B20Created(address,uint8,string,string,uint8,bytes)']

/** The log of the token's creation: where its history begins. Undefined when nobody could give it. */
export async function findCreation(
  source: LogSource,
  block: PinnedBlock,
  token: Address,
  floorBlock: bigint,
): Promise<RawLog | undefined> {
  const subject = `created:${token}`
  const kept = await usableLogs(source, block, subject, floorBlock)
  if (kept?.logs[0] !== undefined) return kept.logs[0]
  const filter = { address: factoryAddress, topics: [createdTopic, `0x${encodeWord(token)}` as Hex] }
  const ask = (fromBlock: bigint, toBlock: bigint, requests: number) =>
    readLogs({ ...source, budget: { requests } }, filter, { fromBlock, toBlock })
  // One wide question first; where providers refuse it, halving the history by code finds the block in few steps.
  let { logs } = await ask(floorBlock, block.number, 4)
  if (logs.length === 0) {
    const number = await bisectCreation(source, token, floorBlock, block.number)
    if (number !== undefined) logs = (await ask(number, number, 2)).logs
  }
  const log = logs[0]
  if (log === undefined || logs.length !== 1) return undefined
  const stored = { fromBlock: floorBlock, toBlock: log.blockNumber, toHash: log.blockHash, logs: [log] }
  await source.index.save(subject, stored, [], undefined).catch(() => {})
  return log
}

/** The first block at which the token has its marker. Needs a provider with old state. */
async function bisectCreation(
  source: LogSource,
  token: Address,
  low: bigint,
  high: bigint,
): Promise<bigint | undefined> {
  let [without, with_] = [low - 1n, high]
  while (with_ - without > 1n) {
    const middle = (without + with_) / 2n
    const created = await hasMarker(source, token, middle)
    if (created === undefined) return undefined
    if (created) with_ = middle
    else without = middle
  }
  return with_
}

async function hasMarker({ panel, meter }: LogSource, token: Address, number: bigint): Promise<boolean | undefined> {
  meter.logs += 1
  const replies = await askAll(panel, [{ method: 'eth_getCode', params: [token, `0x${number.toString(16)}`] }])
  const codes = replies.map(([reply]) => (reply?.ok && typeof reply.value === 'string' ? reply.value : undefined))
  const outcome = agree(panel, codes, (code) => code)
  if (outcome.status !== 'agreed') return undefined
  return outcome.value === codeMarker ? true : outcome.value === '0x' ? false : undefined
}
