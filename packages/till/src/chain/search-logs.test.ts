import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { ChainUnreadable, createChain, createRpc, knownNetworks, type RpcEndpoint, RpcRefusal } from './index.ts'
import { agreedLogs } from './search-logs.ts'

const hex = (number: number) => `0x${number.toString(16)}`
const log = (block: number) => ({
  blockNumber: hex(block),
  transactionHash: hex(block * 7),
  logIndex: '0x0',
  topics: [],
  data: '0x',
})
const there = [3, 8, 21].map(log)

type Range = { from: number; to: number }

/** An endpoint with set answers for a range of blocks. */
const endpoint = (name: string, answer: (range: Range) => unknown[]): RpcEndpoint => ({
  name,
  send: async (calls) =>
    calls.map(({ params }) => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      return answer({ from: Number(fromBlock), to: Number(toBlock) })
    }),
})
const within = ({ from, to }: Range) =>
  there.filter(({ blockNumber }) => Number(blockNumber) >= from && Number(blockNumber) <= to)

const honest = (name: string) => endpoint(name, within)
/** As providers do: the same logs with their own field. */
const talkative = endpoint('talkative', (range) => within(range).map((one) => ({ ...one, removed: false })))
const denying = endpoint('denying', () => [])
const lagging = endpoint('lagging', (range) => within({ ...range, to: Math.min(range.to, 10) }))
const cappedAs = (name: string) =>
  endpoint(name, (range) => {
    if (range.to - range.from > 4) throw new RpcRefusal(-32005, 'at most 5 blocks')
    return within(range)
  })
const capped = cappedAs('capped')
const silent: RpcEndpoint = { name: 'silent', send: () => Promise.reject(new Error('no answer')) }

const blocksSeen = async (...endpoints: RpcEndpoint[]) => {
  const search = { address: hex(1) as `0x${string}`, topics: [], fromBlock: 1n, toBlock: 30n }
  return (await agreedLogs(createRpc(endpoints, { clock: systemClock }), search)).map(({ blockNumber }) =>
    Number(blockNumber),
  )
}

test('one endpoint that leaves a transfer out does not hide it, whichever is asked first', async () => {
  for (const liar of [denying, lagging, silent])
    for (const endpoints of [
      [liar, honest('one'), talkative],
      [honest('one'), liar, talkative],
      [honest('one'), talkative, liar],
    ])
      expect(await blocksSeen(...endpoints)).toEqual([3, 8, 21])
})

test('nor does one hide a transfer to us from the books', async () => {
  const [network] = knownNetworks
  if (!network) throw new Error('no network')
  const sent = (range: Range) =>
    within(range).map((one) => ({
      ...one,
      data: hex(5),
      topics: [hex(1), `0x${'0'.repeat(64)}`, `0x${'0'.repeat(64)}`],
    }))
  for (const liar of [denying, silent]) {
    const rpc = createRpc([liar, endpoint('one', sent), endpoint('two', sent)], { clock: systemClock })
    const chain = createChain({ network, rpc, clock: systemClock, checkContractSignature: async () => 'invalid' })
    const logs = await chain.transferLogs(`0x${'0'.repeat(40)}`, 1n, 30n)
    expect(logs.map(({ blockNumber }) => blockNumber)).toEqual([3n, 8n, 21n])
  }
})

test('ranges that some or all find too wide are halved', async () => {
  expect(await blocksSeen(capped, honest('one'), denying)).toEqual([3, 8, 21])
  expect(await blocksSeen(capped, cappedAs('also capped'), silent)).toEqual([3, 8, 21])
  expect(await blocksSeen(capped)).toEqual([3, 8, 21])
})

test('where enough endpoints do not agree nothing is said', async () => {
  await expect(blocksSeen(honest('one'), denying)).rejects.toThrow(ChainUnreadable)
  await expect(blocksSeen(honest('one'), silent, silent)).rejects.toThrow(ChainUnreadable)
  await expect(blocksSeen(silent, silent, silent)).rejects.toThrow(ChainUnreadable)
})
