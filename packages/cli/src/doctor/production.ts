import { stat } from 'node:fs/promises'
import type { Config } from '@assay/node'
import type { Node } from '../load-node.ts'
import { type Check, fail, ok, warn } from './check.ts'
import { checkOperators } from './rpc-operators.ts'

/** What only a production node needs: chains to read, a key to sign with. */
export async function checkProduction(_node: Node, config: Config): Promise<Check[]> {
  const checks = await Promise.all(
    config.networks.flatMap(({ rpcUrls, caip2, chainId }) => rpcUrls.map((url) => checkRpc(url, caip2, chainId))),
  )
  return [
    ...checks,
    ...config.networks.map(checkOperators),
    await checkKeyFile('signing key', 'SIGNING_KEY_FILE', config.signingKeyFile, config.signer !== undefined),
    await checkKeyFile('log key', 'LOG_KEY_FILE', config.logKeyFile, config.signer !== undefined),
  ]
}

const clockSkewSecondsMax = 120

async function checkRpc(url: string, caip2: string, chainId: number): Promise<Check> {
  // The path or query of an RPC address is often its key: only the host is shown.
  const name = `rpc ${caip2} at ${new URL(url).host}`
  try {
    const [id, block] = await Promise.all([
      ask(url, 'eth_chainId', []),
      ask(url, 'eth_getBlockByNumber', ['latest', false]),
    ])
    if (Number(id) !== chainId)
      return fail(
        name,
        `it serves chain ${Number(id)}`,
        `give the URL of a ${caip2} endpoint; the start refuses this one`,
      )
    const behind = Date.now() / 1000 - Number((block as { timestamp?: string } | null)?.timestamp)
    if (!(Math.abs(behind) < clockSkewSecondsMax))
      return warn(
        name,
        `its newest block and this clock are ${Math.round(Math.abs(behind))} s apart`,
        'check the clock of this machine, and whether the endpoint keeps up with its chain',
      )
    return ok(name, 'right chain, up to date')
  } catch (error) {
    return fail(name, `does not answer (${(error as Error).message})`, 'check the URL, its key and the network')
  }
}

async function ask(url: string, method: string, params: unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(8_000),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message?: string } }
  if (error !== undefined) throw new Error(error.message ?? 'refused')
  return result
}

async function checkKeyFile(
  name: string,
  variable: string,
  path: string | undefined,
  atSigner: boolean,
): Promise<Check> {
  if (path === undefined && atSigner) return ok(name, 'at the signer')
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined)
  if (found === undefined)
    return fail(name, `${path ?? variable} cannot be read`, 'make one: openssl genpkey -algorithm ed25519')
  if ((found.mode & 0o077) !== 0) return fail(name, `${path} can be read by others`, `chmod 600 ${path}`)
  return ok(name, `${path}, for the owner only`)
}
