// npx tsx bench/faces/main.ts: what our client costs a buyer beside the stock one, and how long a tool call takes.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { registerExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createAssayClient, readDemoNetworks } from '../../packages/sdk/src/index.ts'
import { percentiles } from '../percentiles.ts'
import { startChild } from '../process/child.ts'
import type { FigureRow } from '../report-figures.ts'
import { type Bench, counted, runBench } from '../run-bench.ts'

const rounds = process.argv.includes('--quick') ? 40 : 200

type Timed = { cpuMs: number; p50Ms: number; p99Ms: number }

/** One after the other: what a call costs the caller, not how many fit into a second. */
async function timed(work: (n: number) => Promise<void>): Promise<Timed> {
  for (let n = 0; n < 10; n += 1) await work(n)
  const times: number[] = []
  const cpu = process.cpuUsage()
  for (let n = 0; n < rounds; n += 1) {
    const startedMs = performance.now()
    await work(n)
    times.push(performance.now() - startedMs)
  }
  const { user, system } = process.cpuUsage(cpu)
  const at = percentiles(times)
  return { cpuMs: (user + system) / 1000 / rounds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

const shown = ({ cpuMs, p50Ms, p99Ms }: Timed) =>
  `${cpuMs.toFixed(2)} ms CPU, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`

await runBench(async ({ home, note }) => {
  const side = await startChild('faces/side.ts', { ASSAY_HOME: home })
  try {
    return await measureFaces(await side.ask<string>('url'), note)
  } finally {
    await side.stop()
  }
})

async function measureFaces(url: string, note: Bench['note']): Promise<FigureRow[]> {
  const account = privateKeyToAccount(generatePrivateKey())
  const echo = (n: number) => `${url}/v1/sandbox/echo?message=n${n}`
  const stock = x402Client.fromConfig({
    schemes: [],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
  })
  registerExactEvmScheme(stock, { signer: account })
  const stockFetch = wrapFetchWithPayment(fetch, stock)
  const networks = await readDemoNetworks(url)
  const ours = createAssayClient({ account, baseUrl: url, maxPerCallUsd: '0.01', networks })
  const unverified = createAssayClient({ account, baseUrl: url, maxPerCallUsd: '0.01', networks, verify: 'report' })
  const must = (ok: boolean) => {
    if (!ok) throw new Error('a purchase failed')
  }
  const theirs = await timed(async (n) => must((await stockFetch(echo(n))).ok))
  const mine = await timed(async (n) => must((await ours.fetch(echo(n))).response.ok))
  const report = await timed(async (n) => must((await unverified.fetch(echo(n))).response.ok))
  const mcp = new Client({ name: 'bench', version: '1' })
  await mcp.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)) as never)
  const tool = await timed(async (n) => {
    const result = await mcp.callTool({ name: 'sandbox_echo', arguments: { message: `n${n}` } })
    must(result.isError === true && result.structuredContent !== undefined)
  })
  const plain = await timed(async (n) => must((await fetch(echo(n))).status === 402))
  await mcp.close()
  note('figures', {
    stock_client: theirs,
    our_client: mine,
    our_client_problems_reported: report,
    mcp_unpaid: tool,
    http_unpaid: plain,
  })
  return [
    counted('our client, every answer and receipt verified, CPU of a paid call', shown(mine), {
      peer: '@x402/fetch',
      ratio: Number((mine.cpuMs / theirs.cpuMs).toFixed(2)),
    }),
    counted('MCP tool call, unpaid', shown(tool)),
  ]
}
