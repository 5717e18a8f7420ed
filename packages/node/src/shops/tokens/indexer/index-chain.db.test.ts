import { createRpc, type RpcCall, type RpcEndpoint, RpcRefusal } from '@assay/till/chain'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { evaluate } from '../evaluate/evaluate.ts'
import { blockHash, createModel, type ModelToken, modelToken, operations } from '../model-chain.fixture.ts'
import { firstAdmin, modelEndpoint, modelStep } from '../model-history.fixture.ts'
import { createLogIndex } from '../read/log-index.ts'
import { createMemory } from '../read/memory.ts'
import { readToken } from '../read/read-token.ts'
import { readerOver } from '../reader.fixture.ts'
import { type IndexerDeps, indexChain } from './index-chain.ts'
import { listedTokens, loadCursor } from './store.ts'

const db = await useTestDatabase()
beforeEach(clear)

async function clear() {
  await db.owner.query('delete from token_log_subject')
  await db.owner.query('delete from token_listed')
  await db.owner.query('delete from token_index')
}

const chainId = 8453
const capped = (blocks: number) => (call: RpcCall) => {
  if (call.method !== 'eth_getLogs') return
  const { fromBlock, toBlock } = call.params[0] as { fromBlock: string; toBlock: string }
  if (Number(toBlock) - Number(fromBlock) >= blocks) throw new RpcRefusal(-32005, `at most ${blocks} blocks`)
}

function indexer(
  model: ModelToken,
  endpoints: readonly RpcEndpoint[],
  changes: Partial<IndexerDeps> = {},
): IndexerDeps {
  return {
    database: db.database,
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
    chainId,
    rpc: createRpc(endpoints, { clock: systemClock }),
    chain: {
      finalizedBlock: async () => ({ number: BigInt(model.block), hash: blockHash(model.block), timestamp: 0 }),
    },
    floorBlock: 0n,
    requestsPerRun: 1_000,
    logsMax: 100_000,
    ...changes,
  }
}

const unused = [{ name: 'unused', send: async () => [] }]
const index = () => createLogIndex(db.database, chainId, () => systemClock.nowMs())

async function reading(
  model: ModelToken,
  changes: Parameters<typeof readerOver>[1] = {},
  before?: (call: RpcCall) => void,
) {
  const read = await readToken(readerOver([modelEndpoint(model, 'reader', before)], changes), modelToken)
  if (read.status !== 'read') throw new Error(read.status)
  const { block, ...facts } = read.facts
  return { facts, number: block.number, evaluation: evaluate(read.facts), indexedTo: read.indexedTo }
}

test('a reading with the index, wherever it ends, equals one without', { timeout: 120_000 }, async () => {
  const history = fc.array(modelStep, { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(history, fc.array(fc.nat({ max: 19 }), { maxLength: 3 }), async (steps, stops) => {
      await clear()
      const model = createModel(firstAdmin)
      const policies: bigint[] = []
      const rpc = createRpc([modelEndpoint(model, 'one', capped(3))], { clock: systemClock })
      for (const [at, play] of steps.entries()) {
        play(model, policies)
        if (stops.includes(at)) await indexChain({ ...indexer(model, [modelEndpoint(model, 'one')]), rpc })
      }
      const [plain, indexed] = [await reading(model), await reading(model, { index: index() })]
      expect(indexed.facts).toEqual(plain.facts)
      expect(indexed.evaluation).toEqual(plain.evaluation)
      expect(indexed.indexedTo === undefined).toBe(!stops.some((at) => at < steps.length))
    }),
    { numRuns: 60 },
  )
})

test('a reading that remembers what was asked before equals one that does not, in one round of views', async () => {
  const history = fc.array(modelStep, { minLength: 2, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(history, fc.nat({ max: 19 }), async (steps, stop) => {
      await clear()
      const model = createModel(firstAdmin)
      const policies: bigint[] = []
      const deps = readerOver([modelEndpoint(model, 'reader')], { index: index(), memory: createMemory() })
      for (const [at, play] of steps.entries()) {
        play(model, policies)
        if (at === stop) await readToken(deps, modelToken)
      }
      const plain = await reading(model)
      for (const views of [undefined, 1]) {
        const read = await readToken(deps, modelToken)
        if (read.status !== 'read') throw new Error(read.status)
        const { block: _, ...facts } = read.facts
        expect(facts).toEqual(plain.facts)
        if (views !== undefined) expect(read.meter).toMatchObject({ pin: 1, views, recheck: 1 })
      }
    }),
    { numRuns: 25 },
  )
})

test('with the index a reading asks the chain for nothing but the tail', async () => {
  const model = createModel(firstAdmin)
  for (let i = 0; i < 5; i += 1) {
    model.block += 10
    operations.grant(model, firstAdmin, `0x${String(i).padStart(64, '1')}`, firstAdmin)
  }
  const cursorAt = model.block
  await indexChain(indexer(model, [modelEndpoint(model, 'one')]))
  model.block += 7
  operations.cap(model, firstAdmin, 9_000n)
  const asked: [number, number][] = []
  await reading(model, { index: index() }, (call) => {
    if (call.method !== 'eth_getLogs') return
    const { fromBlock, toBlock } = call.params[0] as { fromBlock: string; toBlock: string }
    asked.push([Number(fromBlock), Number(toBlock)])
  })
  expect(asked.length).toBeGreaterThan(0)
  for (const range of asked) expect(range).toEqual([cursorAt + 1, cursorAt + 7])
})

test('a run that spends its requests, or is refused, goes on later from where it was', async () => {
  const model = createModel(firstAdmin)
  model.block += 2_000
  let down = false
  const endpoint = modelEndpoint(model, 'one', (call) => {
    if (down) throw new Error('no answer')
    capped(100)(call)
  })
  const deps = indexer(model, [endpoint], { requestsPerRun: 4 })
  await indexChain(deps)
  const first = await loadCursor(db.database, chainId)
  expect(first?.toBlock).toBeLessThan(BigInt(model.block))
  down = true
  await expect(indexChain(deps)).rejects.toThrow()
  expect(await loadCursor(db.database, chainId)).toEqual(first)
  down = false
  for (let i = 0; i < 100; i += 1) await indexChain(deps)
  expect((await loadCursor(db.database, chainId))?.toBlock).toBe(BigInt(model.block))
  expect(await listedTokens(db.database, chainId)).toEqual([modelToken])
})

test('a run asks an operator for no more calls than it may, and the chain is proven once for all of them', async () => {
  const model = createModel(firstAdmin)
  model.block += 200_000
  const { send } = modelEndpoint(model, 'one', capped(10_000))
  let asked: string[][] = []
  const counted = (calls: readonly RpcCall[]) => {
    asked.push(calls.map(({ method }) => method))
    return send(calls)
  }
  const rpc = createRpc([{ name: 'one', send: counted }], { clock: systemClock, chainId })
  const run = () => indexChain({ ...indexer(model, unused), rpc, requestsPerRun: 10 })
  // What a token wrote since its creation is read on top of it.
  await run()
  const before = await loadCursor(db.database, chainId)
  asked = []
  await run()
  const block = 'eth_getBlockByNumber'
  expect(asked).toEqual([[...Array(7).fill('eth_getLogs'), block, block, 'eth_chainId']])
  expect(((await loadCursor(db.database, chainId))?.toBlock ?? 0n) - (before?.toBlock ?? 0n)).toBe(70_000n)
})

test('a provider that takes few calls in one request is asked in several, and that is remembered', async () => {
  const model = createModel(firstAdmin)
  model.block += 500_000
  const { send } = modelEndpoint(model, 'one')
  let refused = 0
  const few = async (calls: readonly RpcCall[]) => {
    if (calls.length <= 3) return send(calls)
    refused += 1
    throw new RpcRefusal(-32600, 'too many calls in one batch')
  }
  const rpc = createRpc([{ name: 'one', send: few }], { clock: systemClock })
  const run = () => indexChain({ ...indexer(model, unused), rpc, requestsPerRun: 20 })
  await run()
  const [first, refusedFirst] = [await loadCursor(db.database, chainId), refused]
  await run()
  expect((await loadCursor(db.database, chainId))?.toBlock).toBeGreaterThanOrEqual((first?.toBlock ?? 0n) + 100_000n)
  expect(refusedFirst).toBeGreaterThan(0)
  expect(refused).toBe(refusedFirst)
})

test('one of three endpoints that hides a grant does not reach the index; where two disagree it stops', async () => {
  const model = createModel(firstAdmin)
  model.block += 1
  operations.grant(model, firstAdmin, `0x${'7'.repeat(64)}`, firstAdmin)
  const { send } = modelEndpoint(model, 'hiding')
  const hiding: RpcEndpoint = {
    name: 'hiding',
    send: async (calls) => (await send(calls)).map((answer) => (Array.isArray(answer) ? [] : answer)),
  }
  await expect(indexChain(indexer(model, [modelEndpoint(model, 'one'), hiding]))).rejects.toThrow()
  // The blocks before the creation are the same for both.
  expect((await loadCursor(db.database, chainId))?.toBlock).toBe(9n)
  expect(await listedTokens(db.database, chainId)).toEqual([])
  await indexChain(indexer(model, [hiding, modelEndpoint(model, 'one'), modelEndpoint(model, 'two')]))
  expect((await index().load(modelToken))?.logs).toHaveLength(2)
})

test('a final block that was replaced drops the whole index, and it is read again', async () => {
  const model = createModel(firstAdmin)
  await indexChain(indexer(model, [modelEndpoint(model, 'one')]))
  model.block += 1
  const { send } = modelEndpoint(model, 'one')
  const replaced = async (calls: readonly RpcCall[]) =>
    (await send(calls)).map((answer, at) =>
      calls[at]?.method === 'eth_getBlockByNumber' ? { hash: `0x${'9'.repeat(64)}` } : answer,
    )
  await indexChain(indexer(model, [{ name: 'one', send: replaced }]))
  expect(await loadCursor(db.database, chainId)).toMatchObject({ fromBlock: 0n, toBlock: BigInt(model.block) })
  expect((await index().load(modelToken))?.indexed).toBe(true)
})

test('two processes that index at once keep every log once', async () => {
  const model = createModel(firstAdmin)
  const policies: bigint[] = []
  for (let i = 0; i < 30; i += 1) {
    model.block += 1
    policies.push(operations.createPolicy(model, firstAdmin, 0, [firstAdmin]))
  }
  const deps = () => indexer(model, [modelEndpoint(model, 'one', capped(5))])
  await Promise.all([deps(), deps(), deps()].map((one) => indexChain(one)))
  await indexChain(deps())
  for (const id of policies) expect((await index().load(`policy:${id}`))?.logs).toHaveLength(3)
})

test('a lost row, or a limit that is reached, means the chain is asked as without an index', async () => {
  const model = createModel(firstAdmin)
  for (let i = 0; i < 5; i += 1) {
    model.block += 1
    operations.grant(model, firstAdmin, `0x${String(i).padStart(64, '1')}`, firstAdmin)
  }
  const plain = await reading(model)
  await indexChain(indexer(model, [modelEndpoint(model, 'one')]))
  await db.owner.query('delete from token_log where subject = $1 and block_number = $2', [modelToken, model.block - 2])
  const after = await reading(model, { index: index() })
  expect(after.facts).toEqual(plain.facts)
  await clear()
  const full = indexer(model, [modelEndpoint(model, 'one', capped(2))], { logsMax: 2, requestsPerRun: 5 })
  for (let runs = 0; runs < 20; runs += 1) await indexChain(full)
  expect((await loadCursor(db.database, chainId))?.toBlock).toBeLessThan(BigInt(model.block))
  expect((await reading(model, { index: index() })).facts).toEqual(plain.facts)
})
