import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../run-cli.ts'
import { createTestTerminal } from '../terminal.fixture.ts'

test('a stream that was paid for is printed as it comes when it is resumed, not when it has ended', async () => {
  let end = () => {}
  const server = createServer((_, response) => {
    end = () => response.end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: subscription\ndata: {"token":"abc"}\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = await mkdtemp(join(tmpdir(), 'assay-resume-'))
  onTestFinished(async () => {
    server.close()
    await rm(folder, { recursive: true })
  })
  const file = join(folder, 'purchase.json')
  const payer = `0x${'1'.repeat(40)}`
  await writeFile(
    file,
    JSON.stringify({
      ...{ format: 'assay-purchase', version: 1, payer },
      request: {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/stream`,
        ...{ method: 'GET', headers: { accept: 'text/event-stream' }, body_base64: '' },
      },
      purchase: { paymentHeader: 'e30=', nonce: `0x${'2'.repeat(64)}`, amountMicro: '1000', payTo: payer },
    }),
  )
  const terminal = createTestTerminal()
  const ended = runCli(['resume', file, '--allow-unsigned'], terminal)
  await expect.poll(() => terminal.stdout()).toContain('"token":"abc"')
  await expect.poll(() => existsSync(file)).toBe(false)
  end()
  expect(await ended).toBe(0)
})
