import type { Hex } from '@assay/protocol/bytes'
import type { ChainPort, Rpc } from '@assay/till/chain'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Database } from '@assay/till/store/database'
import { readStep } from './read-step.ts'
import { dropIndex, type IndexCursor, listedTokens, loadCursor, saveStep } from './store.ts'

export type IndexerDeps = {
  database: Database
  clock: Clock
  log: Log
  metrics: Metrics
  chainId: number
  rpc: Rpc
  chain: Pick<ChainPort, 'finalizedBlock'>
  /** No B20 token is older than this block. */
  floorBlock: bigint
  /** Calls that one run may ask of each operator, as many of them as must agree. */
  requestsPerRun: number
  /** Logs kept in all; beyond it the index stops and readers ask the chain. */
  logsMax: number
}

/** Reads on from where the index ends, step by step, until it has reached the final block or spent its requests. */
export async function indexChain(deps: IndexerDeps): Promise<void> {
  const { database, chainId, chain, rpc, metrics } = deps
  const final = await chain.finalizedBlock('patient')
  let cursor = await loadCursor(database, chainId)
  if (cursor?.toBlock === final.number) cursor = await usable(deps, cursor, final.hash)
  const isBehind = () => cursor === undefined || cursor.toBlock < final.number
  const tokens = new Set(isBehind() ? await listedTokens(database, chainId) : [])
  let left = deps.requestsPerRun
  while (isBehind() && left > 0 && Number(cursor?.logs ?? 0n) < deps.logsMax) {
    const [origin, after] = [cursor?.fromBlock ?? deps.floorBlock, cursor?.toBlock]
    const fromBlock = after === undefined ? origin : after + 1n
    const { hashes, calls, ...step } = await readStep(rpc, {
      ...{ fromBlock, toBlock: final.number, known: [...tokens], callsMax: left, after },
    })
    left -= calls
    if (cursor !== undefined && (await usable(deps, cursor, hashes.get(cursor.toBlock))) === undefined) {
      cursor = undefined
      tokens.clear()
      continue
    }
    const toHash = step.toBlock === final.number ? final.hash : (hashes.get(step.toBlock) as Hex)
    const end = { fromBlock: origin, toHash, finalBlock: final.number, nowMs: deps.clock.nowMs() }
    // Another process was faster: it goes on.
    if (!(await saveStep(database, chainId, step, end))) return
    for (const { token } of step.created) tokens.add(token)
    cursor = await loadCursor(database, chainId)
  }
  metrics.gauge('token_index_behind_blocks', Math.max(0, Number(final.number - (cursor?.toBlock ?? deps.floorBlock))))
  metrics.gauge('token_index_full', Number(cursor?.logs ?? 0n) >= deps.logsMax ? 1 : 0)
}

/** Final blocks do not change; where one did all the same, the whole index is read again. */
async function usable(deps: IndexerDeps, cursor: IndexCursor, hash: Hex | undefined): Promise<IndexCursor | undefined> {
  if (hash === cursor.toHash) return cursor
  deps.log.error({ block: cursor.toBlock.toString() }, 'a final block was replaced: the token index is read again')
  deps.metrics.count('token_index_dropped')
  await dropIndex(deps.database, deps.chainId)
  return undefined
}
