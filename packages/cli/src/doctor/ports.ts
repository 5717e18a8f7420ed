import { createServer } from 'node:net'
import type { Config } from '@assay/node'
import { type Check, fail, ok, skipped, warn } from './check.ts'

/** Each port the node will listen at: free, or held by a node that already runs. */
export async function checkPorts(config: Config): Promise<Check[]> {
  const checks = [await checkListenPort(config)]
  const bringsChains = config.mode === 'demo' && config.networks.every(({ rpcUrls }) => rpcUrls.length === 0)
  if (!bringsChains) return checks
  for (const [index, port] of config.networks.map(({ devnetPort }) => devnetPort).entries())
    checks.push(await checkChain(port, config.networks[index]?.chainId ?? 0))
  return checks
}

async function checkListenPort({ host, port }: Config): Promise<Check> {
  const name = `port ${port}`
  if (port === 0) return ok('port', 'a free one is picked')
  if (await isFree(host, port)) return ok(name, `free on ${host}`)
  const isNode = await answersAsNode(host, port)
  if (isNode) return ok(name, 'a node is running there')
  if (isNode === undefined)
    return warn(name, 'taken, and what listens there did not answer in time', 'ask again when the machine is less busy')
  return fail(name, 'taken by another program', 'set PORT to another one, or to 0 to pick a free one')
}

async function checkChain(port: number, chainId: number): Promise<Check> {
  const name = `port ${port}`
  if (port === 0) return skipped(`chain ${chainId}`, 'a free port is picked')
  if (await isFree('127.0.0.1', port)) return ok(name, `free, for the embedded chain ${chainId}`)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const answer = await askJson(`http://127.0.0.1:${port}/`, body)
  if (Number(answer?.result) === chainId) return ok(name, `the chain ${chainId} is running there`)
  return fail(name, 'taken by another program', 'set DEVNET_PORTS to two other ports, or to 0,0 to pick free ones')
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}

/** Where a server that listens at every address is asked. */
const loopbackOf: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Its probes answer under any name, where a production node refuses the rest; and all it answers has this header.
 * Undefined where nothing came in time.
 */
async function answersAsNode(host: string, port: number): Promise<boolean | undefined> {
  const at = loopbackOf[host] ?? host
  const url = `http://${at.includes(':') ? `[${at}]` : at}:${port}/livez`
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(3_000) })).headers.has('x-x402-next')
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? undefined : false
  }
}

async function askJson(url: string, body: string): Promise<Record<string, unknown> | undefined> {
  try {
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(3_000), method: 'POST', body })
    return (await response.json()) as Record<string, unknown>
  } catch {
    return undefined
  }
}
