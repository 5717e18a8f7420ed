import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { agreedLogs, agreedPiece, ChainUnreadable, type Rpc, type RpcLog } from '@assay/till/chain'
import { factoryAddress, policyRegistryAddress, topicHashes } from '../abi/b20.ts'
import { controlTopics, type RawLog } from '../read/decode-events.ts'
import { policyTopics } from '../read/decode-policy-events.ts'
import { inOrder, knownCaps, type LogRange, parseLog } from '../read/read-logs.ts'
import { readAddress } from '../read/words.ts'
import { hasTokenPrefix } from '../token-address.ts'

export type Created = { token: Address; log: RawLog }

/** All that the chain wrote about tokens in a range of final blocks. */
export type Step = LogRange & { created: Created[]; policyLogs: RawLog[]; tokenLogs: RawLog[]; requests: number }

const createdTopic = topicHashes['B20Created(address,uint8,string,string,uint8,bytes)']
/** Providers refuse longer lists of addresses. */
const addressesAtOnce = 500

/**
 * Reads the beginning of a range, as much as the providers give at once. Throws where enough endpoints do not agree: a
 * step is read whole or not at all.
 */
export async function readStep(rpc: Rpc, range: LogRange, known: readonly Address[]): Promise<Step> {
  const { roots, toBlock } = await readRoots(rpc, range)
  const read = { fromBlock: range.fromBlock, toBlock }
  const created = roots.flatMap((log): Created[] => {
    if (log.address !== factoryAddress) return []
    const token = readAddress(log.topics[1] ?? '0x')
    if (token === undefined) throw new ChainUnreadable('a creation log does not have the form of one')
    return hasTokenPrefix(token) ? [{ token, log }] : []
  })
  const tokens = [...new Set([...known, ...created.map(({ token }) => token)])]
  const tokenLogs: RawLog[] = []
  for (let at = 0; at < tokens.length; at += addressesAtOnce)
    tokenLogs.push(...(await wholeLogs(rpc, tokens.slice(at, at + addressesAtOnce), controlTopics, read)))
  return {
    ...read,
    created,
    policyLogs: roots.filter((log) => log.address === policyRegistryAddress),
    tokenLogs: inOrder(tokenLogs),
    requests: 1 + Math.ceil(tokens.length / addressesAtOnce),
  }
}

const rootAddresses = [factoryAddress, policyRegistryAddress]
const rootTopics = [createdTopic, ...policyTopics]

/** What the factory and the registry wrote, as far as one whole answer reaches. */
async function readRoots(rpc: Rpc, { fromBlock, toBlock }: LogRange): Promise<{ roots: RawLog[]; toBlock: bigint }> {
  const search = { address: rootAddresses, topics: [rootTopics], fromBlock, toBlock }
  const piece = await agreedPiece(rpc, search)
  if (!knownCaps.has(piece.logs.length)) {
    const range = { fromBlock, toBlock: piece.toBlock }
    return { roots: checked(piece.logs, rootAddresses, rootTopics, range), toBlock: piece.toBlock }
  }
  refuseCutBlock({ fromBlock, toBlock: piece.toBlock })
  return readRoots(rpc, { fromBlock, toBlock: (fromBlock + piece.toBlock) / 2n })
}

/** An answer with exactly as many logs as a known limit was most likely cut off there: its halves are read instead. */
async function wholeLogs(
  rpc: Rpc,
  addresses: readonly Address[],
  topics: readonly Hex[],
  range: LogRange,
): Promise<RawLog[]> {
  const { fromBlock, toBlock } = range
  const given = await agreedLogs(rpc, { address: addresses, topics: [topics], fromBlock, toBlock })
  if (!knownCaps.has(given.length)) return checked(given, addresses, topics, range)
  refuseCutBlock(range)
  const middle = (fromBlock + toBlock) / 2n
  return [
    ...(await wholeLogs(rpc, addresses, topics, { fromBlock, toBlock: middle })),
    ...(await wholeLogs(rpc, addresses, topics, { fromBlock: middle + 1n, toBlock })),
  ]
}

function refuseCutBlock({ fromBlock, toBlock }: LogRange): void {
  if (fromBlock === toBlock) throw new ChainUnreadable(`the logs of block ${fromBlock} are cut off`)
}

/** In order; throws for a log that was not asked for. */
function checked(
  given: readonly RpcLog[],
  addresses: readonly Address[],
  topics: readonly Hex[],
  { fromBlock, toBlock }: LogRange,
): RawLog[] {
  const wanted = new Set(addresses)
  const logs = given.map((item) => {
    const log = parseLog(item)
    const fits =
      log !== undefined &&
      wanted.has(log.address) &&
      topics.includes(log.topics[0] as Hex) &&
      log.blockNumber >= fromBlock &&
      log.blockNumber <= toBlock
    if (!fits) throw new ChainUnreadable('a log was given that was not asked for')
    return log
  })
  return inOrder(logs)
}
