import type { Hex } from '@assay/protocol/bytes'
import type { RpcEndpoint } from '@assay/till/chain'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { roles } from '../abi/b20.ts'
import { type FaultChain, openFaultChain } from '../fault-chain.fixture.ts'
import { createLogIndex, type LogIndex } from './log-index.ts'

let fault: FaultChain
let db: TestDatabase
let index: LogIndex

beforeAll(async () => {
  ;[fault, db] = await Promise.all([openFaultChain(), openTestDatabase()])
  index = createLogIndex(db.database, 8453, () => 1_793_910_000_000)
})
afterAll(async () => {
  await Promise.all([fault.chain.stop(), db.close()])
})

/** The ranges in which logs of a token were asked for. */
function watched(token: string): { endpoint: RpcEndpoint; ranges: [number, number][] } {
  const ranges: [number, number][] = []
  const endpoint = fault.faulty({
    before: (call) => {
      const filter = call.params[0] as { address: string; topics: unknown[]; fromBlock: Hex; toBlock: Hex }
      // The grants alone are asked for beside the whole, for a second opinion.
      if (call.method === 'eth_getLogs' && filter.address === token && Array.isArray(filter.topics[0]))
        ranges.push([Number(filter.fromBlock), Number(filter.toBlock)])
    },
  })
  return { endpoint, ranges }
}

test('the next reading asks for what is new and for nothing else', async () => {
  const token = await fault.issuer.create('kept')
  const { endpoint, ranges } = watched(token)
  await fault.evaluated([endpoint], token, { index })
  const first = fault.chain.control.head().number
  await fault.issuer.call(token, 'grantRole', roles.MINT_ROLE, fault.guard.address)
  ranges.length = 0
  const { facts, evaluation } = await fault.evaluated([endpoint], token, { index })
  expect(ranges).toEqual([[first + 1, first + 1]])
  expect(evaluation.missing).toEqual([])
  expect(facts.roles.get(roles.MINT_ROLE)?.holders.map(({ account }) => account)).toEqual([fault.guard.address])
})

test('a reorg makes what was kept worthless, and it is read again', async () => {
  const token = await fault.issuer.create('reorged away')
  await fault.chain.control.mine(2)
  const { endpoint, ranges } = watched(token)
  const before = await fault.evaluated([endpoint], token, { index })
  await fault.chain.control.reorg(1)
  ranges.length = 0
  const { evaluation } = await fault.evaluated([endpoint], token, { index })
  // What is new is asked for while it is found out that nothing cached is valid.
  expect(ranges.at(-1)?.[0]).toBe(Number(before.facts.logs.fromBlock))
  expect(evaluation.missing).toEqual([])
})

test('a grant that the index lost or made up never changes who holds what: it is noticed and read again', async () => {
  const token = await fault.issuer.create('tampered')
  await fault.issuer.call(token, 'grantRole', roles.MINT_ROLE, fault.guard.address)
  await fault.issuer.call(token, 'renounceLastAdmin')
  const read = async () => (await fault.evaluated([fault.honest], token, { index })).evaluation
  const truth = await read()
  expect(truth.verdict).toBe('PARTIALLY_CONTROLLED')
  const tamper = (sql: string) => db.database.query(sql, [token, `%${fault.guard.address.slice(2)}%`])
  const changes = [
    `delete from token_log where subject = $1 and array_to_string(topics, ',') like $2`,
    `update token_log set topics[3] = '0x' || repeat('0', 24) || repeat('9', 40)
     where subject = $1 and array_to_string(topics, ',') like $2`,
  ]
  for (const change of changes) {
    expect((await tamper(change)).rowCount).toBeGreaterThan(0)
    expect(await read()).toEqual(truth)
  }
})
