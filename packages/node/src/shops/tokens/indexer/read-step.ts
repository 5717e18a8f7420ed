import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { agreedStep, ChainUnreadable, type LogStep, type Rpc, type StepLogs } from '@assay/till/chain'
import { factoryAddress, policyRegistryAddress, topicHashes } from '../abi/b20.ts'
import { controlTopics, type RawLog } from '../read/decode-events.ts'
import { policyTopics } from '../read/decode-policy-events.ts'
import { inOrder, knownCaps, type LogRange, parseLog } from '../read/read-logs.ts'
import { readAddress } from '../read/words.ts'
import { hasTokenPrefix } from '../token-address.ts'

export type Created = { token: Address; log: RawLog }

/** All that the chain wrote about tokens in a range of final blocks. */
export type Step = LogRange & { created: Created[]; policyLogs: RawLog[]; tokenLogs: RawLog[] }

export type StepRequest = LogRange & {
  known: readonly Address[]
  /** Calls that each operator may be asked for; more only where less cannot be read whole. */
  callsMax: number
  /** Where the last step ended: its hash is read again. */
  after: bigint | undefined
}

const createdTopic = topicHashes['B20Created(address,uint8,string,string,uint8,bytes)']
const rootTopics: ReadonlySet<Hex> = new Set([createdTopic, ...policyTopics])
const rootAddresses = [factoryAddress, policyRegistryAddress]
const wantedTopics = [...new Set([...rootTopics, ...controlTopics])]
/** Providers refuse longer lists of addresses. */
const addressesAtOnce = 500
/** The chain id, and the blocks before and at the end of a step. */
const callsBesideLogs = 3
const piecesOfCreated = 8

/**
 * Reads the beginning of a range, as much as the calls allow. Throws where enough endpoints do not agree: a step is read
 * whole or not at all.
 */
export async function readStep(rpc: Rpc, request: StepRequest): Promise<Step & Pick<StepLogs, 'hashes' | 'calls'>> {
  const { fromBlock, known, after } = request
  const filters = filtersOf([...rootAddresses, ...known])
  const pieces = Math.max(1, Math.floor((request.callsMax - callsBesideLogs) / filters.length))
  const blocks = (toBlock: bigint) => [
    ...(after === undefined ? [] : [after]),
    // The caller has the hash of the last one.
    ...(toBlock === request.toBlock ? [] : [toBlock]),
  ]
  const first = await readWhole(rpc, { fromBlock, toBlock: request.toBlock, filters, pieces, blocks })
  const read = { fromBlock, toBlock: first.toBlock }
  const logs = checked(first, [...rootAddresses, ...known], read)
  const roots = logs.filter(
    ({ address, topics }) => rootAddresses.includes(address) && rootTopics.has(topics[0] as Hex),
  )
  const created = roots.flatMap((log): Created[] => {
    if (log.address !== factoryAddress) return []
    const token = readAddress(log.topics[1] ?? '0x')
    if (token === undefined) throw new ChainUnreadable('a creation log does not have the form of one')
    return hasTokenPrefix(token) ? [{ token, log }] : []
  })
  const more = await readCreated(rpc, known, created, read.toBlock)
  return {
    ...read,
    created,
    policyLogs: roots.filter(({ address }) => address === policyRegistryAddress),
    tokenLogs: inOrder([...logs, ...more.logs].filter(isOfToken)),
    hashes: first.hashes,
    calls: first.calls + more.calls,
  }
}

const isOfToken = ({ address, topics }: RawLog) =>
  !rootAddresses.includes(address) && controlTopics.includes(topics[0] as Hex)

function filtersOf(addresses: readonly Address[]): LogStep['filters'] {
  const filters: { address: Address[]; topics: [Hex[]] }[] = []
  for (let at = 0; at < addresses.length; at += addressesAtOnce)
    filters.push({ address: addresses.slice(at, at + addressesAtOnce), topics: [wantedTopics] })
  return filters
}

/** What tokens that were created in a step wrote in it. */
async function readCreated(rpc: Rpc, known: readonly Address[], created: readonly Created[], toBlock: bigint) {
  const before = new Set(known)
  const [first] = created
  const tokens = [...new Set(created.map(({ token }) => token))].filter((token) => !before.has(token))
  const logs: RawLog[] = []
  let calls = 0
  for (let from = first?.log.blockNumber ?? toBlock; tokens.length > 0 && from <= toBlock; ) {
    const range = { fromBlock: from, toBlock }
    const piece = await readWhole(rpc, { ...range, filters: filtersOf(tokens), pieces: piecesOfCreated })
    logs.push(...checked(piece, tokens, range))
    calls += piece.calls
    from = piece.toBlock + 1n
  }
  return { logs, calls }
}

/** An answer with exactly as many logs as a known limit was most likely cut off there: half of the range is read instead. */
async function readWhole(rpc: Rpc, step: LogStep): Promise<StepLogs> {
  const given = await agreedStep(rpc, step)
  if (!given.answers.some(({ length }) => knownCaps.has(length))) return given
  const { fromBlock } = step
  if (given.toBlock === fromBlock) throw new ChainUnreadable(`the logs of block ${fromBlock} are cut off`)
  const half = await readWhole(rpc, { ...step, pieces: 1, toBlock: (fromBlock + given.toBlock) / 2n })
  return { ...half, calls: given.calls + half.calls }
}

/** In order; throws for a log that was not asked for. */
function checked({ answers }: StepLogs, addresses: readonly Address[], { fromBlock, toBlock }: LogRange): RawLog[] {
  const wanted = new Set(addresses)
  const logs = answers.flat().map((item) => {
    const log = parseLog(item)
    const fits =
      log !== undefined &&
      wanted.has(log.address) &&
      wantedTopics.includes(log.topics[0] as Hex) &&
      log.blockNumber >= fromBlock &&
      log.blockNumber <= toBlock
    if (!fits) throw new ChainUnreadable('a log was given that was not asked for')
    return log
  })
  return inOrder(logs)
}
