import { expect, test } from 'vitest'
import { CommitUnknown } from './errors.ts'
import { createBatcher } from './group-commit.ts'

const gate = () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

test('items that arrive while a batch is in flight go together in the next one', async () => {
  const batches: number[][] = []
  const first = gate()
  const batcher = createBatcher<number, number>({
    maxItems: 100,
    maxConcurrent: 1,
    run: async (items) => {
      batches.push(items)
      if (batches.length === 1) await first.opened
      return items.map((item) => item * 10)
    },
  })
  const lone = batcher.submit(1)
  await new Promise((resolve) => setImmediate(resolve))
  const rest = [2, 3, 4].map((item) => batcher.submit(item))
  expect(batcher.size()).toBe(4)
  first.open()
  expect(await Promise.all([lone, ...rest])).toEqual([10, 20, 30, 40])
  expect(batches).toEqual([[1], [2, 3, 4]])
  await batcher.idle()
  expect(batcher.size()).toBe(0)
})

test('batches never exceed the item limit nor run more at once than allowed', async () => {
  let running = 0
  let most = 0
  let largest = 0
  const batcher = createBatcher<number, number>({
    maxItems: 7,
    maxConcurrent: 3,
    run: async (items) => {
      running += 1
      most = Math.max(most, running)
      largest = Math.max(largest, items.length)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return items
    },
  })
  const all = Array.from({ length: 200 }, (_, index) => batcher.submit(index))
  expect(await Promise.all(all)).toEqual(Array.from({ length: 200 }, (_, index) => index))
  expect(most).toBe(3)
  expect(largest).toBe(7)
})

test('one bad item fails alone', async () => {
  const batcher = createBatcher<number, number>({
    maxItems: 64,
    maxConcurrent: 1,
    run: async (items) => {
      if (items.includes(13)) throw new Error('unlucky')
      return items
    },
  })
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, index) => batcher.submit(index)))
  expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(outcomes.map((_, index) => index === 13))
})

test('with isolation off, or an unknown outcome, a failed batch is not tried again', async () => {
  for (const [error, isolateFailures] of [
    [new Error('refused'), false],
    [new CommitUnknown(new Error('reset')), true],
  ] as const) {
    let runs = 0
    const batcher = createBatcher<number, number>({
      maxItems: 64,
      maxConcurrent: 1,
      isolateFailures,
      run: async () => {
        runs += 1
        throw error
      },
    })
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)))
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(runs).toBe(1)
  }
})
