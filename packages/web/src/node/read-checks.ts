import { readJson } from '@assay/protocol/json-object'
import { type NodeIndex, networkName } from './node-index.ts'
import { problemFrom } from './problem.ts'

export type Check = { name: string; ok: boolean }
export type NotSold = { route: string; detail: string }
export type Readiness = { ready: boolean; checks: Check[]; notSold: NotSold[] }

/** How the node is. One that is not ready answers 503, and names its checks as well. */
export async function readReadiness(index: NodeIndex, signal: AbortSignal): Promise<Readiness> {
  const response = await fetch(`${index.base_url}/readyz`, { headers: { accept: 'application/json' }, signal })
  const body = readJson(new Uint8Array(await response.arrayBuffer()))
  const found = readinessOf(index, response.ok, body)
  if (found === undefined) throw problemFrom(response.status, body)
  return found
}

export function readinessOf(index: Pick<NodeIndex, 'networks'>, ready: boolean, body: unknown): Readiness | undefined {
  const { checks, not_for_sale = [] } = (body ?? {}) as { checks?: Record<string, string>; not_for_sale?: NotSold[] }
  if (checks === undefined) return undefined
  const named = (name: string) => name.replace(/eip155:\d+/, (network) => networkName(index, network))
  return {
    ready,
    checks: Object.entries(checks).map(([name, state]) => ({ name: named(name), ok: state === 'ok' })),
    notSold: not_for_sale,
  }
}
