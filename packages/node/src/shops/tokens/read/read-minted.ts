import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { topicHashes } from '../abi/b20.ts'
import { type Known, known, type PinnedBlock, unknown } from '../facts.ts'
import { calls } from './calls.ts'
import { collectLogs, type LogSource } from './collect-logs.ts'
import type { Questions } from './questions.ts'
import { encodeWord, readUint } from './words.ts'

const transferTopic = topicHashes['Transfer(address,address,uint256)']

// A detail of history: it may cost a few questions, and what they do not tell is left open.
const requestsMax = 4

/** Whether tokens were ever made. A supply proves it; where there is none now, all of it may have been burned. */
export async function readMinted(
  source: LogSource,
  questions: Questions,
  block: PinnedBlock,
  token: Address,
  fromBlock: bigint,
): Promise<Known<boolean>> {
  const supply = questions.fact(calls.plain(token, 'totalSupply()'), (data) => readUint(data, 256))
  if (!supply.known) return supply
  if (supply.value > 0n) return known(true)
  const filter = { address: token, topics: [transferTopic, `0x${encodeWord(zeroAddress)}` as Hex] }
  const budgeted = { ...source, budget: { requests: requestsMax } }
  const { logs, coverage } = await collectLogs(budgeted, block, `mints:${token}`, filter, fromBlock)
  if (logs.length > 0) return known(true)
  return coverage.gaps.length === 0 ? known(false) : unknown('unread')
}
