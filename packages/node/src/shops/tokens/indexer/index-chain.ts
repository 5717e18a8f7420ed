import { type ChainPort, ChainUnreadable, type Rpc } from '@assay/till/chain'
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
  chain: Pick<ChainPort, 'finalizedBlock' | 'blockHash'>
  /** No B20 token is older than this block. */
  floorBlock: bigint
  /** Reads that one run may spend; each is asked of as many endpoints as must agree. */
  requestsPerRun: number
  /** Logs kept in all; beyond it the index stops and readers ask the chain. */
  logsMax: number
}

/** Reads on from where the index ends, step by step, until it has reached the final block or spent its requests. */
export async function indexChain(deps: IndexerDeps): Promise<void> {
  const { database, chainId, chain, rpc, metrics } = deps
  const final = await chain.finalizedBlock()
  const cursor = await usableCursor(deps, final.number)
  const origin = cursor?.fromBlock ?? deps.floorBlock
  let fromBlock = cursor === undefined ? origin : cursor.toBlock + 1n
  const tokens = new Set(fromBlock > final.number ? [] : await listedTokens(database, chainId))
  let logs = Number(cursor?.logs ?? 0n)
  let left = deps.requestsPerRun
  while (fromBlock <= final.number && left > 0 && logs < deps.logsMax) {
    const step = await readStep(rpc, { fromBlock, toBlock: final.number }, [...tokens])
    const { toBlock } = step
    const isLast = toBlock === final.number
    left -= step.requests + (isLast ? 0 : 1)
    const toHash = isLast ? final.hash : await chain.blockHash(toBlock)
    if (toHash === undefined) throw new ChainUnreadable(`the endpoints do not agree about block ${toBlock}`)
    const at = { fromBlock: origin, toHash, finalBlock: final.number, nowMs: deps.clock.nowMs() }
    // Another process was faster: it goes on.
    if (!(await saveStep(database, chainId, step, at))) return
    for (const { token } of step.created) tokens.add(token)
    logs += step.created.length + step.policyLogs.length + step.tokenLogs.length
    fromBlock = toBlock + 1n
  }
  metrics.gauge('token_index_behind_blocks', Math.max(0, Number(final.number - fromBlock) + 1))
  metrics.gauge('token_index_full', logs >= deps.logsMax ? 1 : 0)
}

/** Final blocks do not change; where one did all the same, the whole index is read again. */
async function usableCursor(deps: IndexerDeps, finalNumber: bigint): Promise<IndexCursor | undefined> {
  const cursor = await loadCursor(deps.database, deps.chainId)
  // Endpoints that are behind know nothing of its block yet.
  if (cursor === undefined || cursor.toBlock > finalNumber) return cursor
  const hash = await deps.chain.blockHash(cursor.toBlock)
  if (hash === undefined) throw new ChainUnreadable(`the endpoints do not agree about block ${cursor.toBlock}`)
  if (hash === cursor.toHash) return cursor
  deps.log.error({ block: cursor.toBlock.toString() }, 'a final block was replaced: the token index is read again')
  deps.metrics.count('token_index_dropped')
  await dropIndex(deps.database, deps.chainId)
  return undefined
}
