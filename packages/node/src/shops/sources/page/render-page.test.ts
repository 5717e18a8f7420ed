import { existsSync } from 'node:fs'
import { systemClock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import { listenHttp, outboundFor } from '../../../outbound/outbound.fixture.ts'
import { createRenderer } from './render-page-adapter.ts'

const program = [process.env['CHROMIUM'] ?? '', '/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(
  existsSync,
)

const page = (secretPort: number) => `<html><body><div id="app"></div><script>
  fetch('http://127.0.0.1:${secretPort}/').catch(() => {})
  fetch('/data').then((answer) => answer.text()).then((text) => { document.getElementById('app').textContent = text })
</script></body></html>`

test.skipIf(program === undefined)(
  'a browser runs the scripts of a page and reaches nothing but public names',
  async () => {
    const secret = await listenHttp((_, response) => response.end('secret'))
    const site = await listenHttp((request, response) => {
      const isData = request.url === '/data'
      response.setHeader('content-type', isData ? 'text/plain' : 'text/html')
      response.end(isData ? 'written by a script' : page(secret.port))
    })
    const outbound = outboundFor({
      loopbackHosts: new Map([['site.test', { address: '127.0.0.1', port: site.port }]]),
      resolvers: [],
    })
    const render = createRenderer({
      ...{ clock: systemClock, outbound, program: program as string, userAgent: 'AssayBot/1.0' },
      withoutSandbox: true,
      limits: { ms: 120_000 },
    })
    try {
      expect(await render('http://site.test/')).toEqual({ html: expect.stringContaining('written by a script') })
      expect(secret.connections).toBe(0)
    } finally {
      await Promise.all([site.close(), secret.close()])
    }
  },
)

test('a browser that cannot be started or ends badly is a problem of the page', async () => {
  const outbound = outboundFor({ resolvers: [] })
  for (const missing of ['/no/such/browser', '/bin/false'])
    expect(
      await createRenderer({ clock: systemClock, outbound, program: missing, userAgent: 'x' })('http://site.test/'),
    ).toEqual({ problem: expect.stringContaining('the browser') })
})
