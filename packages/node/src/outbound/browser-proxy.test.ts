import { request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { type BrowserProxy, openBrowserProxy } from './index.ts'
import { type Listening, listenHttp, listenTcp, outboundFor, tableResolver } from './outbound.fixture.ts'

const open: { close(): Promise<void> }[] = []
const track = <T extends { close(): Promise<void> }>(one: T): T => {
  open.push(one)
  return one
}
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const limits = { bytesMax: 1_000_000, requestsMax: 5, totalMs: 10_000 }
const proxyFor = async (site: Listening, over: Partial<typeof limits> = {}) =>
  track(
    await openBrowserProxy(
      outboundFor({
        loopbackHosts: new Map([['site.test', { address: '127.0.0.1', port: site.port }]]),
        resolvers: [tableResolver({ 'inside.com': ['10.0.0.1'], 'mixed.com': ['93.184.216.34', '127.0.0.1'] })],
      }),
      { ...limits, ...over },
    ),
  )

/** As a browser asks a proxy: by the whole address for http, by CONNECT for https. */
const ask = (proxy: BrowserProxy, method: string, path: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(proxy.address)
    const asked = request({ host: hostname, port, method, path, agent: false })
    asked.on('connect', (response, socket) => {
      socket.destroy()
      resolve({ status: response.statusCode ?? 0, body: '' })
    })
    asked.on('response', (response) => {
      let body = ''
      response.on('data', (piece) => {
        body += piece
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    asked.on('error', reject)
    asked.end()
  })

test('a page gets what public names serve, and nothing of this machine or of a private network', async () => {
  const site = track(await listenHttp((_, response) => response.end('hello')))
  const secret = track(await listenTcp((socket) => socket.end('secret')))
  const proxy = await proxyFor(site, { requestsMax: 100 })
  expect(await ask(proxy, 'GET', 'http://site.test/a')).toEqual({ status: 200, body: 'hello' })
  expect((await ask(proxy, 'CONNECT', 'site.test:443')).status).toBe(200)
  for (const target of [`127.0.0.1:${secret.port}`, 'localhost', '169.254.169.254', 'inside.com', 'mixed.com']) {
    expect((await ask(proxy, 'GET', `http://${target}/`)).status, target).toBe(403)
    expect((await ask(proxy, 'CONNECT', target.includes(':') ? target : `${target}:443`)).status, target).toBe(403)
  }
  expect((await ask(proxy, 'CONNECT', 'site.com:22')).status).toBe(403)
  expect((await ask(proxy, 'POST', 'http://site.test/a')).status).toBe(403)
  expect(secret.connections).toBe(0)
})

test('over its limits a page gets nothing more', async () => {
  const site = track(await listenHttp((_, response) => response.end('x'.repeat(600))))
  const few = await proxyFor(site, { requestsMax: 2 })
  const statuses = async (proxy: BrowserProxy) => {
    const seen: number[] = []
    for (let n = 0; n < 3; n += 1) seen.push((await ask(proxy, 'GET', 'http://site.test/')).status)
    return seen
  }
  expect(await statuses(few)).toEqual([200, 200, 403])
  expect(await statuses(await proxyFor(site, { bytesMax: 1_000 }))).toEqual([200, 403, 403])
})
