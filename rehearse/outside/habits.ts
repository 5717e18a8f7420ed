type Request = (method: string, params: unknown[]) => Promise<unknown>
type ChainRequest = (method: string, params?: readonly unknown[]) => Promise<unknown>
type Log = { blockNumber: string }

const quantity = (value: bigint) => `0x${value.toString(16)}`

/** Logs and receipts carry a member that is in no specification. */
export function withBlockTimestamps(request: ChainRequest): Request {
  const marked = async (log: Log) => {
    const block = (await request('eth_getBlockByNumber', [log.blockNumber, false])) as { timestamp: string } | null
    return { ...log, blockTimestamp: block?.timestamp }
  }
  return async (method, params) => {
    const answer = await request(method, params)
    if (method === 'eth_getLogs') return Promise.all((answer as Log[]).map(marked))
    if (method !== 'eth_getTransactionReceipt' || answer === null) return answer
    const receipt = answer as { logs: Log[] }
    return { ...receipt, logs: await Promise.all(receipt.logs.map(marked)) }
  }
}

const places: Record<string, number> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getBlockByNumber: 0,
  eth_getStorageAt: 2,
}

/** Knows nothing of the newest blocks yet. */
export function laggingBy(blocks: () => bigint, request: ChainRequest): Request {
  const head = async () => BigInt((await request('eth_blockNumber', [])) as string) - blocks()
  return async (method, params) => {
    if (method === 'eth_blockNumber') return quantity(await head())
    const place = places[method]
    if (place !== undefined && (params[place] === 'latest' || params[place] === undefined))
      return request(method, withItem(params, place, quantity(await head())))
    if (method === 'eth_getLogs') return request(method, [await untilHead(params[0] as Range, head)])
    const answer = await request(method, params)
    if (method !== 'eth_getTransactionReceipt' && method !== 'eth_getBlockByNumber') return answer
    const number = (answer as { blockNumber?: string; number?: string } | null)?.blockNumber
    return number !== undefined && BigInt(number) > (await head()) ? null : answer
  }
}

type Range = { fromBlock?: string; toBlock?: string }

async function untilHead(filter: Range, head: () => Promise<bigint>): Promise<Range> {
  return filter.toBlock === undefined || filter.toBlock === 'latest'
    ? { ...filter, toBlock: quantity(await head()) }
    : filter
}

const withItem = (list: readonly unknown[], place: number, item: unknown) => {
  const copy = [...list]
  copy[place] = item
  return copy
}
