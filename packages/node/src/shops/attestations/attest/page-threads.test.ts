import { Worker } from 'node:worker_threads'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { afterEach, expect, test } from 'vitest'
import { findQuote } from './find-quote.ts'
import { openPageThreads, type PageThreadOptions, type PageThreads } from './page-threads-adapter.ts'
import { readCited } from './read-cited.ts'

const headers = new Map([['content-type', 'text/html']])
const url = 'https://cited.com/a'
const htmlOf = (bytes: number) => {
  const paragraph = `<p>${'Running text about how short interest is collected and published. '.repeat(15)}</p>\n`
  return Buffer.from(`<html><body><article>${paragraph.repeat(bytes / paragraph.length)}</article></body></html>`)
}
const large = htmlOf(100_000)

let opened: PageThreads[] = []
const open = (options: Partial<PageThreadOptions> = {}) => {
  const threads = openPageThreads({ clock: systemClock, log: silentLog, ...options })
  opened.push(threads)
  return threads
}
afterEach(async () => {
  await Promise.all(opened.map((threads) => threads.stop()))
  opened = []
})

/** Turns of the event loop until the work is done, up to so many: how often another request could have been served meanwhile. */
async function turnsDuring(work: Promise<unknown>, enough = Number.POSITIVE_INFINITY): Promise<number> {
  let done = false
  const over = work.finally(() => {
    done = true
  })
  let turns = 0
  for (; !done && turns < enough; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  await over
  return turns
}

test('five large pages at once do not stall the event loop', async () => {
  const page = htmlOf(1_200_000)
  const pages = Array.from({ length: 5 }, () => page)
  const inline = await turnsDuring(
    Promise.all(
      pages.map(async (bytes) => {
        await new Promise((resolve) => setImmediate(resolve))
        return readCited(bytes, url, headers)
      }),
    ),
  )
  // On a busy machine a thread waits longer for its turn than it works.
  const threads = open({ taskMs: 300_000 })
  const reading = Promise.all(pages.map((bytes) => threads.read(bytes, url, headers)))
  expect(await turnsDuring(reading, 20 * inline)).toBe(20 * inline)
})

test('a thread reads what the parser reads, and finds what the search finds', async () => {
  const threads = open()
  const direct = readCited(large, url, headers)
  const read = await threads.read(large, url, headers)
  if ('problem' in direct || 'problem' in read) throw new Error('not a page')
  const { text } = direct
  expect(read).toMatchObject({ title: direct.title, text, licence: direct.licence, canonical: direct.canonical })
  expect(Buffer.from(read.contentSha256)).toEqual(Buffer.from(direct.contentSha256))
  expect(Buffer.from(read.textSha256)).toEqual(Buffer.from(direct.textSha256))
  const quote = 'short interest is collected'
  expect(await threads.find(text, quote)).toEqual(findQuote(text, quote))
  expect(
    await threads.read(Buffer.alloc(100_000, 0xff), url, new Map([['content-type', 'text/html; charset=utf-8']])),
  ).toMatchObject({ problem: 'not_text' })
})

const scripted = (code: string) => () =>
  new Worker(`const { parentPort } = require('node:worker_threads'); parentPort.on('message', ${code})`, {
    eval: true,
    execArgv: [],
  })

test('a thread that dies fails the one request it worked for', async () => {
  const dies =
    '(task) => { if (task.url.endsWith("bad")) process.exit(1); parentPort.postMessage({ title: task.url }) }'
  const threads = open({ threadsMax: 1, startWorker: scripted(dies) })
  const outcomes = await Promise.allSettled(['/1', '/bad', '/2'].map((path) => threads.read(large, path, headers)))
  expect(outcomes).toMatchObject([
    { value: { title: '/1' } },
    { reason: { code: 'page_unreadable' } },
    { value: { title: '/2' } },
  ])
})

test('a thread that throws fails the one request it worked for', async () => {
  const throws =
    '(task) => { if (task.url.endsWith("bad")) throw new Error("no"); parentPort.postMessage({ title: task.url }) }'
  const threads = open({ threadsMax: 1, startWorker: scripted(throws) })
  await expect(threads.read(large, '/bad', headers)).rejects.toMatchObject({ code: 'page_unreadable' })
  expect(await threads.read(large, '/2', headers)).toEqual({ title: '/2' })
})

test('a page that takes too long is given up, and the thread with it', async () => {
  const hangs = '(task) => { while (task.url.endsWith("bad")); parentPort.postMessage({ title: task.url }) }'
  let limits = 0
  // The first limit is over at once, the others never.
  const clock = { ...systemClock, sleep: async () => (limits++ === 0 ? undefined : new Promise<void>(() => {})) }
  const threads = open({ clock, threadsMax: 1, startWorker: scripted(hangs) })
  await expect(threads.read(large, '/bad', headers)).rejects.toMatchObject({ code: 'page_unreadable' })
  expect(await threads.read(large, '/2', headers)).toEqual({ title: '/2' })
})

test('more large pages than may wait are refused', async () => {
  const never = open({ threadsMax: 1, waitingMax: 1, startWorker: scripted('() => {}') })
  const pending = Promise.allSettled(['/1', '/2'].map((path) => never.read(large, path, headers)))
  await expect(never.read(large, '/3', headers)).rejects.toMatchObject({ code: 'not_ready' })
  await never.stop()
  expect((await pending).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
