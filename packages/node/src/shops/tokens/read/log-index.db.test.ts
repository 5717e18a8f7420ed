import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { beforeAll, expect, test } from 'vitest'
import type { RawLog } from './decode-events.ts'
import { createLogIndex, type LogIndex } from './log-index.ts'

const db = await useTestDatabase()
let index: LogIndex
const chainId = 8453
const nowMs = 1_793_910_000_000
const hash = (text: string): Hex => `0x${text.padStart(64, '0')}`

beforeAll(async () => {
  index = createLogIndex(db.database, chainId, () => nowMs)
})

const log = (block: number, logIndex: number, branch = 'a'): RawLog => ({
  address: `0xb200000000000000000000${'1'.repeat(18)}` as Address,
  topics: [hash('1'), hash('2')],
  data: '0x0102',
  blockNumber: BigInt(block),
  blockHash: hash(`${branch}${block}`),
  transaction: hash(`f${block}`),
  logIndex,
})

const covered = (fromBlock: number, toBlock: number, logs: RawLog[], branch = 'a') => ({
  fromBlock: BigInt(fromBlock),
  toBlock: BigInt(toBlock),
  toHash: hash(`${branch}${toBlock}`),
  logs,
})

test('what was saved is loaded again, in order and to the last bit', async () => {
  expect(await index.load('new')).toBeUndefined()
  const logs = [log(12, 1), log(10, 3), log(10, 1)]
  await index.save('new', covered(10, 20, logs), [], undefined)
  expect(await index.load('new')).toEqual(covered(10, 20, [log(10, 1), log(10, 3), log(12, 1)]))
})

test('the next reading adds what is new, and saying it twice changes nothing', async () => {
  await index.save('grown', covered(10, 20, [log(10, 1)]), [], undefined)
  const kept = await index.load('grown')
  for (let i = 0; i < 2; i += 1) await index.save('grown', covered(10, 30, [log(25, 0)]), [], kept)
  expect(await index.load('grown')).toEqual(covered(10, 30, [log(10, 1), log(25, 0)]))
})

test('a fresh start replaces what another branch of the chain had', async () => {
  await index.save('reorged', covered(10, 20, [log(10, 1), log(19, 0)]), [], undefined)
  await index.save('reorged', covered(10, 18, [log(10, 1), log(17, 2, 'b')], 'b'), [], undefined)
  expect(await index.load('reorged')).toEqual(covered(10, 18, [log(10, 1), log(17, 2, 'b')], 'b'))
})

test('a slow reader that is behind does not move the index back, nor mix its logs into it', async () => {
  await index.save('raced', covered(10, 30, [log(10, 1)], 'b'), [], undefined)
  await index.save('raced', covered(10, 25, [log(22, 7, 'a')], 'a'), [], covered(10, 20, []))
  expect(await index.load('raced')).toEqual(covered(10, 30, [log(10, 1)], 'b'))
})

test('kept logs of which one is lost or changed are not used at all', async () => {
  const spoil = (sql: string) => db.database.query(sql, [chainId, 'spoilt'])
  for (const sql of [
    'delete from token_log where chain_id = $1 and subject = $2 and block_number = 12',
    `update token_log set data = '0x' where chain_id = $1 and subject = $2 and block_number = 12`,
    'update token_log_subject set digest = null where chain_id = $1 and subject = $2',
  ]) {
    await index.save('spoilt', covered(10, 20, [log(10, 1), log(12, 0)]), [], undefined)
    expect(await index.load('spoilt')).toBeDefined()
    await spoil(sql)
    expect(await index.load('spoilt')).toBeUndefined()
  }
})

test('ranges that failed are recorded beside what was covered', async () => {
  const gap = { fromBlock: 21n, toBlock: 29n, reason: 'unread' }
  await index.save('gaps', covered(10, 20, []), [gap], undefined)
  const { rows } = await db.database.query<{ failed: unknown }>(
    'select failed from token_log_subject where chain_id = $1 and subject = $2',
    [chainId, 'gaps'],
  )
  expect(rows[0]?.failed).toEqual([{ from_block: '21', to_block: '29', reason: 'unread' }])
})

test('what is deleted is gone with its logs; other subjects and chains keep theirs', async () => {
  const other = createLogIndex(db.database, 84532, () => nowMs)
  for (const one of [index, other]) await one.save('lost', covered(10, 20, [log(10, 1)]), [], undefined)
  await index.remove('lost')
  expect(await index.load('lost')).toBeUndefined()
  expect(await other.load('lost')).toEqual(covered(10, 20, [log(10, 1)]))
  const { rows } = await db.database.query('select 1 from token_log where chain_id = $1 and subject = $2', [
    chainId,
    'lost',
  ])
  expect(rows).toEqual([])
})
