import { openPageThreads } from '../../packages/node/src/shops/attestations/attest/page-threads-adapter.ts'
import { readCited } from '../../packages/node/src/shops/attestations/attest/read-cited.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'

const url = 'https://cited.example/'
const headers = new Map([['content-type', 'text/html']])

/** The longest time that other requests wait while many large pages are parsed at once: in threads, and without. */
export async function measurePages(count = 12, bytes = 4_500_000) {
  const paragraph = `<p>${'Running text about how short interest is collected and published. '.repeat(15)}</p>\n`
  const page = Buffer.from(`<html><body>${paragraph.repeat(bytes / paragraph.length)}</body></html>`)
  const threads = openPageThreads({ clock: systemClock, log: silentLog })
  try {
    await threads.read(page, url, headers)
    const all = (read: () => unknown) => Promise.all(Array.from({ length: count }, async () => read()))
    const inline_stall_ms = await longestStall(() => all(() => readCited(page, url, headers)))
    const threads_stall_ms = await longestStall(() => all(() => threads.read(page, url, headers)))
    return { count, bytes, inline_stall_ms, threads_stall_ms, required_ratio: 5 }
  } finally {
    await threads.stop()
  }
}

async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0
  let lastMs = performance.now()
  const timer = setInterval(() => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
  }, 1)
  try {
    await work()
    await systemClock.sleep(10)
  } finally {
    clearInterval(timer)
  }
  return Math.round(longestMs)
}
