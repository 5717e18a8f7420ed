import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CliError } from '../exit-codes.ts'
import { createTestTerminal } from '../terminal.fixture.ts'
import { buildRequest, type RequestToSend, toInit } from './build-request.ts'

const url = 'https://shop.example/thing'

test('any URL, method, body and header gives a request that can be sent, or a usage error', async () => {
  const options = fc.record(
    {
      method: fc.oneof(fc.string(), fc.constantFrom('get', 'POST', 'put')),
      // A leading @ reads a file, which is no matter of parsing.
      data: fc.string().filter((text) => !text.startsWith('@')),
      header: fc.array(
        fc.oneof(fc.string(), fc.constantFrom('Accept: text/csv', 'X-A:  b', 'Host: x', 'a: b\r\nc: d')),
      ),
    },
    { requiredKeys: [] },
  )
  const anyUrl = fc.oneof(fc.constant(url), fc.webUrl(), fc.string())
  await fc.assert(
    fc.asyncProperty(anyUrl, options, async (target, given) => {
      const built = await buildRequest(target, given, createTestTerminal()).catch((error: unknown) => error)
      if (built instanceof CliError) expect(built.exitCode).toBe(2)
      else expect(new Request(target, toInit(built as RequestToSend)).url).toBe((built as RequestToSend).url)
    }),
  )
})

test('data decides about method and content type as people expect', async () => {
  const build = (options: Parameters<typeof buildRequest>[1], input?: string) =>
    buildRequest(url, options, createTestTerminal(input === undefined ? {} : { input }))
  expect(await build({})).toMatchObject({ method: 'GET', headers: {} })
  expect(await build({ data: '{"a":1}' })).toMatchObject({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  })
  expect((await build({ data: 'a=1' })).headers['content-type']).toBe('application/octet-stream')
  expect((await build({ data: 'a', header: ['Content-Type: text/plain'] })).headers['content-type']).toBe('text/plain')
  expect(Buffer.from((await build({ data: '@-' }, 'piped')).body).toString()).toBe('piped')
})
