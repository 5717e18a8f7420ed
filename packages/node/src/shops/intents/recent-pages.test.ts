import { expect, test } from 'vitest'
import { createRecentPages } from './recent-pages.ts'

function createLog(length: number) {
  const log = Array.from({ length }, (_, index) => index + 1)
  const reads: number[] = []
  let gate: Promise<void> = Promise.resolve()
  const read = async (after: number, limit: number, filter?: readonly string[]) => {
    reads.push(after)
    // As a statement sees what was there when it began.
    const seen = log.filter((seq) => seq > after && (filter === undefined || filter.includes(`${seq % 2}`)))
    await gate
    return seen.slice(0, limit)
  }
  return {
    ...{ log, reads, read },
    hold: () => {
      let open = () => {}
      gate = new Promise((resolve) => {
        open = resolve
      })
      return open
    },
  }
}

const readAll = async (page: (after: number) => Promise<readonly number[]>) => {
  const seen: number[] = []
  for (;;) {
    const items = await page(seen.at(-1) ?? 0)
    if (items.length === 0) return seen
    seen.push(...items)
  }
}

test('readers who come back together read each full page once', async () => {
  const { log, reads, read } = createLog(300)
  const pages = createRecentPages({ size: 20 }, read)
  const seen = await Promise.all(Array.from({ length: 50 }, () => readAll(pages)))
  for (const one of seen) expect(one).toEqual(log)
  expect(reads.filter((after) => after < 300)).toHaveLength(15)
})

test('a page that is not full is read again by each, so that nobody misses what was written meanwhile', async () => {
  const { log, reads, read, hold } = createLog(5)
  const pages = createRecentPages({ size: 20 }, read)
  const open = hold()
  const first = pages(0)
  log.push(6)
  const second = pages(0)
  open()
  expect(await first).toEqual([1, 2, 3, 4, 5])
  expect(await second).toEqual([1, 2, 3, 4, 5, 6])
  expect(await pages(0)).toEqual([1, 2, 3, 4, 5, 6])
  expect(reads).toEqual([0, 0, 0])
})

test('each filter has its own pages', async () => {
  const { read } = createLog(6)
  const pages = createRecentPages({ size: 3 }, read)
  expect(await pages(0)).toEqual([1, 2, 3])
  expect(await pages(0, ['1'])).toEqual([1, 3, 5])
  expect(await pages(0, ['0'])).toEqual([2, 4, 6])
})

test('a read that fails is kept by nobody', async () => {
  let fails = true
  const pages = createRecentPages({ size: 1 }, async () => {
    if (fails) throw new Error('the database is away')
    return [1]
  })
  await expect(pages(0)).rejects.toThrow('away')
  fails = false
  expect(await pages(0)).toEqual([1])
})

test('only the pages asked for last are kept', async () => {
  const { reads, read } = createLog(100)
  const pages = createRecentPages({ size: 10, pagesMax: 2 }, read)
  for (const after of [0, 10, 0, 20, 0, 10]) await pages(after)
  expect(reads).toEqual([0, 10, 20, 10])
})
