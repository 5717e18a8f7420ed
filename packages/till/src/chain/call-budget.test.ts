import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { createRpc, type RpcEndpoint } from './index.ts'

function world(count: number, callsPerMinute: number) {
  let nowMs = 1_000
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs }
  const asked = Array.from({ length: count }, () => 0)
  const endpoints = asked.map(
    (_, index): RpcEndpoint => ({
      name: `https://rpc${index}.example`,
      send: async (calls) => {
        asked[index] = (asked[index] ?? 0) + calls.length
        return calls.map(() => '0x1')
      },
    }),
  )
  const rpc = createRpc(endpoints, { clock, quorum: 1, callsPerMinute })
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { rpc, asked, pass }
}

const read = (rpc: ReturnType<typeof world>['rpc']) => rpc.first('eth_call', [])

test('an endpoint that has had its calls is spared, the next one answers, and when nobody has room the read fails', async () => {
  const { rpc, asked, pass } = world(2, 10)
  for (let call = 0; call < 20; call += 1) expect(await read(rpc)).toBe('0x1')
  expect(asked).toEqual([10, 10])
  await expect(read(rpc)).rejects.toThrow('has had its calls of this minute')
  expect(asked).toEqual([10, 10])
  // A tenth of a minute brings back one call to each.
  pass(6_000)
  for (let call = 0; call < 2; call += 1) expect(await read(rpc)).toBe('0x1')
  await expect(read(rpc)).rejects.toThrow('has had its calls')
  pass(600_000)
  for (let call = 0; call < 20; call += 1) expect(await read(rpc)).toBe('0x1')
  await expect(read(rpc)).rejects.toThrow('has had its calls')
})

test('the only endpoint keeps its budget too, and a signed transaction goes out all the same', async () => {
  const { rpc, asked, pass } = world(1, 10)
  for (let call = 0; call < 10; call += 1) await read(rpc)
  await expect(read(rpc)).rejects.toThrow('has had its calls')
  expect(await rpc.first('eth_sendRawTransaction', ['0x02'])).toBe('0x1')
  pass(6_000)
  // The transaction was counted: its call is still owed.
  await expect(read(rpc)).rejects.toThrow('has had its calls')
  pass(6_000)
  await read(rpc)
  expect(asked).toEqual([12])
})

test('a batch larger than a minute goes out once there is a whole minute for it', async () => {
  const { rpc, asked, pass } = world(1, 10)
  const batch = Array.from({ length: 25 }, () => ({ method: 'eth_call', params: [] }))
  await rpc.batch(batch)
  await expect(rpc.batch(batch)).rejects.toThrow('has had its calls')
  pass(150_000)
  await rpc.batch(batch)
  expect(asked).toEqual([50])
})
