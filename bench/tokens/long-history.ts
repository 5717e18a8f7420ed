import { roleNames, roles } from '../../packages/node/src/shops/tokens/abi/b20.ts'
import { createChecker } from '../../packages/node/src/shops/tokens/checker.ts'
import { evaluate } from '../../packages/node/src/shops/tokens/evaluate/evaluate.ts'
import { indexChain } from '../../packages/node/src/shops/tokens/indexer/index-chain.ts'
import { loadCursor } from '../../packages/node/src/shops/tokens/indexer/store.ts'
import {
  answerModel,
  blockHash,
  createModel,
  type ModelToken,
  modelToken,
  operations,
} from '../../packages/node/src/shops/tokens/model-chain.fixture.ts'
import { firstAdmin } from '../../packages/node/src/shops/tokens/model-history.fixture.ts'
import { createLogIndex } from '../../packages/node/src/shops/tokens/read/log-index.ts'
import { createMemory } from '../../packages/node/src/shops/tokens/read/memory.ts'
import { readToken } from '../../packages/node/src/shops/tokens/read/read-token.ts'
import { readerOver } from '../../packages/node/src/shops/tokens/reader.fixture.ts'
import { createRpc, type RpcEndpoint, RpcRefusal } from '../../packages/till/src/chain/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { openTestDatabase } from '../../packages/till/src/store/testing.ts'

const chainId = 8453
const blocks = 5_000_000
const rangeMax = 10_000
const roleEvents = 200
const latencyMs = 200
const finalityLag = 6_000
const requestsPerRun = 20

/** Requests that overlap are one round trip: another begins when nobody is waited for. */
function createWire() {
  let inFlight = 0
  let trips = 0
  return {
    trips: () => trips,
    reset: () => {
      trips = 0
    },
    carry: async <T>(answer: () => T, delayMs: number): Promise<T> => {
      if (inFlight === 0) trips += 1
      inFlight += 1
      try {
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
        return answer()
      } finally {
        inFlight -= 1
      }
    },
  }
}

type Wire = ReturnType<typeof createWire>

function endpointOf(model: ModelToken, name: string, wire: Wire, delayMs: () => number): RpcEndpoint {
  const answer = (call: Parameters<RpcEndpoint['send']>[0][number]) => {
    const [first, second] = call.params as [{ fromBlock?: string; toBlock?: string }, string]
    if (call.method === 'eth_getLogs' && Number(first.toBlock) - Number(first.fromBlock) >= rangeMax)
      throw new RpcRefusal(-32005, `at most ${rangeMax} blocks`)
    // The model has no past: before its creation there is no token.
    if (call.method === 'eth_getCode' && typeof second === 'string' && Number(second) < 10) return '0x'
    return answerModel(model, call, Math.floor(Date.now() / 1000))
  }
  return { name, send: (calls) => wire.carry(() => calls.map(answer), delayMs()) }
}

function modelWithHistory(): ModelToken {
  const model = createModel(firstAdmin)
  const grantable = roleNames.filter((name) => name !== 'DEFAULT_ADMIN_ROLE')
  for (let i = 0; i < roleEvents; i += 1) {
    model.block = Math.floor(((i + 1) * blocks) / (roleEvents + 1))
    const account = `0x${(1_000 + i).toString(16).padStart(40, '0')}` as const
    operations.grant(model, firstAdmin, roles[grantable[i % grantable.length] ?? 'MINT_ROLE'], account)
  }
  model.block = blocks
  return model
}

/** Checks before, while and after the background index reads a history that no endpoint gives at once. */
export async function measureLongHistory() {
  const db = await openTestDatabase()
  try {
    const model = modelWithHistory()
    const wire = createWire()
    let delay = 1
    const endpoints = ['one', 'two', 'three'].map((name) => endpointOf(model, name, wire, () => delay))
    const index = createLogIndex(db.database, chainId, () => systemClock.nowMs())
    const deps = readerOver(endpoints, { index, memory: createMemory() })
    const final = () => model.block - finalityLag
    const indexer = {
      database: db.database,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
      chainId,
      rpc: createRpc(endpoints, { clock: systemClock }),
      chain: {
        finalizedBlock: async () => ({ number: BigInt(final()), hash: blockHash(final()), timestamp: 0 }),
      },
      floorBlock: 0n,
      requestsPerRun,
      logsMax: 5_000_000,
    }
    const cold = { checks: 0, failed: 0, complete: 0, trips_of_the_first: 0 }
    const checkOnce = async () => {
      cold.checks += 1
      const checked = await createChecker(deps)
        .check(modelToken, { fresh: true })
        .catch(() => undefined)
      if (checked === undefined) cold.failed += 1
      else if (checked.evaluation.complete) cold.complete += 1
    }
    wire.reset()
    await checkOnce()
    cold.trips_of_the_first = wire.trips()
    let runs = 0
    for (; runs < 1_000; runs += 1) {
      if ((await loadCursor(db.database, chainId))?.toBlock === BigInt(final())) break
      await indexChain(indexer)
      if (runs % 10 === 0) await checkOnce()
    }
    await readToken(deps, modelToken)
    model.block += 300
    operations.cap(model, firstAdmin, 9_000_000n)
    delay = latencyMs
    wire.reset()
    const started = performance.now()
    const read = await readToken(deps, modelToken)
    const ms = Math.round(performance.now() - started)
    if (read.status !== 'read') throw new Error(`the token is ${read.status}`)
    return {
      blocks,
      range_max: rangeMax,
      latency_ms: latencyMs,
      cold,
      index: { runs, requests_per_run: requestsPerRun, complete: read.indexedTo === BigInt(final() - 300) },
      warm: { round_trips: wire.trips(), meter: read.meter, ms, complete: evaluate(read.facts).complete },
    }
  } finally {
    await db.close()
  }
}
