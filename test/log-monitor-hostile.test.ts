import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { memoryLog, openMonitor, serveLog } from '../packages/node/src/tlog/monitor/test-log.fixture.ts'
import type { LogState, MonitorOptions } from '../packages/node/src/tlog/monitor/types.ts'
import { noteKey, signatureTypes } from '../packages/protocol/src/log/signed-note.ts'
import { logKey, origin, type Published, rotation, start, state } from './harness/evidence-world.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
const vkeyOf = (n: number) => noteKey(origin, signatureTypes.ed25519, logKey(n).x).vkey
const logOf = (...texts: string[]) => {
  const log = memoryLog({ origin, d: logKey(0).d })
  log.add(texts)
  return log
}
/** Key n of the log, as the fixture counts keys. */
const signer = (n: number) => 0x40 + n

/** An Assay log whose description says what the test gives it. */
async function serve(log: ReturnType<typeof logOf>) {
  const published: { key_statements: unknown[] } = { key_statements: [] }
  const server = await serveLog(log, {
    alter: (path, response) => {
      if (path !== '/') return false
      response.writeHead(200).end(JSON.stringify({ origin, keys: [vkeyOf(0)], anchors: [], ...published }))
      return true
    },
  })
  closing.push(server.close)
  return { ...server, published }
}
const monitorOf = async (url: string, options: Partial<MonitorOptions> = {}) => {
  const monitor = await openMonitor(url, { keys: [vkeyOf(0)], ...options })
  closing.push(monitor.close)
  return monitor
}
const kinds = ({ findings }: LogState) => [...new Set(findings.map(({ kind }) => kind))]

const revokedKey = (): Promise<Published> =>
  state({ action: 'revoke', purpose: 'log', origin, notBefore: 0, notAfter: start + 90_000, treeSize: 0 }, logKey(0), {
    wallet: true,
  })

test('a key that was revoked stays so when the log says nothing of it any more, and forks under it are not the log’s', async () => {
  const log = logOf('one')
  const server = await serve(log)
  const mirror = await serve(log)
  const monitor = await monitorOf(server.url, { compare: [mirror.url] })
  expect(kinds(await monitor.look())).toEqual([])
  server.published.key_statements = [await rotation('log', 0, start + 86_400, { treeSize: 1 }), await revokedKey()]
  log.add(['two'])
  server.served.head = () => log.otherHead(signer(1), origin)
  mirror.served.head = server.served.head
  const followed = await monitor.look()
  expect([kinds(followed), followed.keys, followed.lost]).toEqual([[], [vkeyOf(1)], [vkeyOf(0)]])
  // The thief answers at the same address, extends the log, and shows others another history.
  server.published.key_statements = []
  log.add(['three'])
  server.served.head = () => log.head()
  mirror.served.log = logOf('another beginning', 'two', 'three', 'four')
  mirror.served.head = () => mirror.served.log.head()
  const robbed = await monitor.look()
  expect(kinds(robbed)).toEqual(['unknown_key'])
  expect(robbed.head?.size).toBe(2)
  server.served.head = () => log.otherHead(signer(1), origin)
  expect(kinds(await monitor.look())).toEqual(['view_unusable'])
})

test('a log that shows another history at every check fills no disk', async () => {
  const log = logOf('one', 'two')
  const server = await serve(log)
  const monitor = await monitorOf(server.url)
  await monitor.look()
  for (let n = 0; n < 40; n += 1) {
    server.served.log = logOf(`history ${n}`, 'two', 'three')
    server.served.head = () => server.served.log.head()
    expect(kinds(await monitor.look())).toEqual(['fork'])
  }
  expect((await readdir(join(monitor.home, 'forks'))).length).toBeLessThanOrEqual(16)
  expect((await monitor.store.readState())?.forks.length).toBeLessThanOrEqual(16)
})
