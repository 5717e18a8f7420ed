import { isRecord } from '@assay/protocol/json-object'
import { readDirectory } from '@assay/protocol/keys/key-directory'
import { verifyMeshEvidence } from '@assay/protocol/mesh/evidence'
import { openStatement } from '@assay/protocol/mesh/statement'
import { type ReportedPurchase, weighEvidence, whyRanked } from '@assay/protocol/mesh/weigh-evidence'
import type { Platform } from '../platform.ts'
import type { FetchGuard } from './fetch-guard.ts'
import { asPeerKey, type FoundNode } from './inspect-node.ts'
import { fetchMeshJson } from './read-mesh.ts'

const evidenceMsMax = 2_000
const itemsMax = 64

/** What others paid a node for, as the node that named it tells; each call is believed for its two signatures alone. */
export async function weighNode(node: FoundNode, guard: FetchGuard): Promise<FoundNode> {
  const calls = await guard.within(evidenceMsMax, (platform) => readCalls(node, platform)).catch(() => [])
  const groups = new Map(calls.map(({ payer, group }) => [payer, group]))
  const evidence = weighEvidence(calls, (payer) => groups.get(payer) ?? payer)
  return { ...node, evidence, why: whyRanked(node.priceUsd, node.priceProven, evidence) }
}

async function readCalls(node: FoundNode, platform: Platform): Promise<(ReportedPurchase & { group: string })[]> {
  const query = new URLSearchParams({ node: node.did, capability: node.capability })
  const answer = await fetchMeshJson(`${node.namedBy}/x402/mesh/evidence?${query}`, platform)
  const data = isRecord(answer) && Array.isArray(answer.data) ? answer.data.slice(0, itemsMax) : []
  const current = openStatement(node.statement)
  if (current === undefined) return []
  const keys = readDirectory(node.keys).keys.map(asPeerKey)
  const check = { address: node.address, current, keys, nowMs: platform.nowMs() }
  const seen = new Set<string>()
  const calls = await Promise.all(
    data.map(async (entry: unknown) => {
      if (!isRecord(entry) || !isRecord(entry.evidence)) return []
      const { evidence, group } = entry
      const verdict = await verifyMeshEvidence(evidence, check)
      if (!verdict.ok || verdict.kind !== 'purchase' || verdict.capability !== node.capability) return []
      if (seen.has(String(evidence.receipt))) return []
      seen.add(String(evidence.receipt))
      return [
        {
          payer: verdict.payer,
          outcome: evidence.outcome as ReportedPurchase['outcome'],
          priceKept: evidence.paid_micro === evidence.stated_micro,
          latencyMs: Number(evidence.latency_ms),
          group: typeof group === 'string' ? group : verdict.payer,
        },
      ]
    }),
  )
  return calls.flat()
}
