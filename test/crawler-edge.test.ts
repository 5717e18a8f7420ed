import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { readsForModels } from '../examples/crawlers/app.ts'
import { onLoopback } from '../packages/till/src/kernel/on-loopback.fixture.ts'

type Edge = { default: { fetch(request: Request, env: { SELLER: string }): Promise<Response> } }
const { default: edge } = (await import(new URL('../examples/crawlers/edge.js', import.meta.url).href)) as Edge

const answering = (text: string) =>
  onLoopback(createServer((request, response) => response.end(`${text} ${request.url}`)))
const site = await answering('site')
const seller = await answering('seller')
afterAll(() => Promise.all([site.close(), seller.close()]))

const ask = async (path: string, headers: Record<string, string>) =>
  (await edge.fetch(new Request(`${site.url}${path}`, { headers }), { SELLER: seller.url })).text()

const people = [{ 'user-agent': 'Mozilla/5.0 Firefox/140.0' }]
const crawlers = [
  { 'user-agent': 'Mozilla/5.0 (compatible; GPTBot/1.3)' },
  { 'user-agent': 'ClaudeBot/1.0' },
  { 'user-agent': 'curl/8', 'payment-signature': 'x' },
]

test('the edge sends AI crawlers and payers to the seller, and everybody else to the site as it is', async () => {
  for (const headers of people) expect(await ask('/articles/bread?a=1', headers)).toBe('site /articles/bread?a=1')
  for (const headers of crawlers) {
    expect(await ask('/articles/bread?a=1', headers)).toBe('seller /articles/bread?a=1')
    expect(await ask('/about', headers)).toBe('site /about')
  }
  for (const headers of [...people, ...crawlers])
    expect(readsForModels(new Headers(headers))).toBe((await ask('/articles/x', headers)).startsWith('seller'))
})

test('the snippet in the documentation is the one that is tested', () => {
  const code = readFileSync(new URL('../examples/crawlers/edge.js', import.meta.url), 'utf8')
  expect(readFileSync(new URL('../docs/sources.md', import.meta.url), 'utf8')).toContain(code.trim())
})
