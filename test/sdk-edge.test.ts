import { Worker } from 'node:worker_threads'
import { readDemo } from '@assay/sdk'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { echoPath } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'

const till = useTill({ ownShops: 'till' })

/** As a page or an edge function has it: one script for browsers, wallet included. */
async function bundleOf(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    format: 'iife',
    globalName: 'bundled',
    platform: 'browser',
    target: 'es2022',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

/** Runs a script in its own thread, in which nothing of Node has a name: the web's globals are all it finds. */
function runBare(script: string, data: unknown): Promise<unknown> {
  const start = `
    const { parentPort, workerData } = require('node:worker_threads')
    const hidden = ['process', 'Buffer', 'global', 'require', 'module', 'exports', '__filename', '__dirname', 'setImmediate']
    const bundled = new Function(...hidden, workerData.script + '\\nreturn bundled')()
    bundled.run(workerData.data).then(
      (result) => parentPort.postMessage({ result }),
      (error) => parentPort.postMessage({ error: String(error.stack) }),
    )`
  const worker = new Worker(start, { eval: true, workerData: { script, data } })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the thread ended with ${code}`)))
  }).finally(() => worker.terminate())
}

test('the paying core buys and verifies where nothing of Node exists', async () => {
  const script = await bundleOf(`
    import { createAssayClient } from '@assay/sdk/pay'
    import { verifyResponse } from '@assay/sdk/verify'
    import { privateKeyToAccount } from 'viem/accounts'

    export async function run({ url, key, networks }) {
      const client = createAssayClient({ account: privateKeyToAccount(key), networks, maxPerCallUsd: '0.01' })
      const { response, payment, receipt, verified } = await client.fetch(url)
      const body = new Uint8Array(await response.clone().arrayBuffer())
      const changed = Uint8Array.from(body, (byte, index) => (index === 0 ? byte ^ 1 : byte))
      const keys = client.pinnedKeys(new URL(url).origin)
      const again = (body) => verifyResponse({ method: 'GET', url }, { status: response.status, headers: response.headers, body }, { keys, nowMs: Date.now() })
      return {
        names: [typeof process, typeof Buffer],
        echo: (await response.json()).echo, paid: payment.status, receipt: receipt.status, verified: verified.status,
        again: [(await again(body)).status, (await again(changed)).status],
      }
    }`)
  const demo = await readDemo(till.node.url)
  const key = demo.accounts.find(({ role }) => role === 'buyer')?.privateKey
  const url = `${till.node.url}${echoPath}?message=edge`
  const ran = await runBare(script, { url, key, networks: demo.networks })
  expect(ran).toEqual({
    result: {
      names: ['undefined', 'undefined'],
      echo: 'edge',
      paid: 'settled',
      receipt: 'verified',
      verified: 'verified',
      again: ['verified', 'invalid'],
    },
  })
})
