import { evidenceCharsMax } from '@assay/protocol/mesh/evidence'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { readUpTo } from '../read-up-to.ts'
import type { MeshDeps } from './deps.ts'
import { readEvidenceRows } from './evidence-store.ts'
import { evidencePageBytesMax, evidencePageMax, evidencePath, meshPath } from './limits.ts'
import type { MeshViews } from './mesh-view.ts'
import { groupPayers } from './payer-groups.ts'
import { capabilityText } from './schemas.ts'
import { takeEvidence } from './take-evidence.ts'
import { refused } from './verify-node-request.ts'

const signed = z
  .looseObject({ type: z.enum(['x402-mesh-price', 'x402-mesh-purchase']), node: z.string(), signature: z.string() })
  .describe('docs/mesh-protocol.md has both kinds.')

const exampleEvidence = {
  type: 'x402-mesh-purchase' as const,
  node: 'did:web:node.example.org',
  capability: 'token.control.report',
  method: 'GET',
  receipt: 'eyJhbGciOiJFZERTQSIs….eyJ2ZXJzaW9uIjoxLCJu….c2lnbmF0dXJl',
  stated_micro: '20000',
  paid_micro: '20000',
  latency_ms: 230,
  outcome: 'ok',
  reporter: '0x00000000000000000000000000000000000000a1',
  reported_at: '2026-01-01T00:00:00.000Z',
  signature: `0x${'11'.repeat(64)}1b`,
}

/** What buyers signed about nodes: given to one node, read by all. */
export function evidenceRoutes(deps: MeshDeps, views: MeshViews): RouteDeclaration[] {
  return [readRoute(deps), listEvidenceRoute(deps, views)]
}

function readRoute(deps: MeshDeps): RouteDeclaration {
  return defineRoute({
    id: 'mesh.evidence',
    area: 'C',
    method: 'GET',
    path: evidencePath,
    summary: 'What buyers signed about nodes: paid calls with their receipts, and prices that contradict a statement',
    query: z.strictObject({
      node: z.string().max(300).optional().describe('DID; the newest about it.'),
      capability: capabilityText.optional(),
      since: z.coerce.number().int().min(0).optional().describe('`until_ms` of the last answer: what came after it.'),
    }),
    output: z.strictObject({
      data: z.array(
        z.strictObject({
          evidence: signed,
          group: z.string().describe('Payers that this node takes for one have the same; its own opinion.'),
        }),
      ),
      until_ms: z.int(),
    }),
    example: {
      query: { node: 'did:web:node.example.org' },
      output: { data: [{ evidence: exampleEvidence, group: 'strangers' }], until_ms: 1767225600000 },
    },
    next: meshPath,
    cacheSeconds: 1,
    access: {
      kind: 'free',
      handle: async ({ query }) => {
        const sinceMs = query.since ?? 0
        const { node, capability } = query
        const rows = await readEvidenceRows(deps.database, { sinceMs, node, capability, limit: evidencePageMax })
        const groupOf = await groupPayers(
          deps,
          rows.map(({ reporter }) => reporter),
        )
        let bytes = 0
        const page = rows.filter(({ evidence }, place) => {
          bytes += JSON.stringify(evidence).length
          return place === 0 || bytes <= evidencePageBytesMax
        })
        return jsonAnswer({
          data: page.map(({ evidence, reporter }) => ({ evidence, group: groupOf(reporter) })),
          until_ms: readUpTo(sinceMs, {
            lastMs: page.at(-1)?.receivedMs,
            more: rows.length === evidencePageMax || page.length < rows.length,
            nowMs: deps.clock.nowMs(),
          }),
        })
      },
    },
  })
}

function listEvidenceRoute(deps: MeshDeps, views: MeshViews): RouteDeclaration {
  return defineRoute({
    id: 'mesh.evidence.give',
    area: 'C',
    method: 'POST',
    path: evidencePath,
    summary: 'Give evidence about a node: signed by the wallet of the buyer, with the signature of the node inside',
    description:
      'Evidence of a price drops the node for a day; evidence of a paid call counts where nodes are ranked. It is public and is passed on to other nodes.',
    body: signed,
    output: z.strictObject({ node: z.string(), status: z.enum(['taken', 'known']) }),
    example: { body: exampleEvidence, output: { node: 'did:web:node.example.org', status: 'taken' } },
    next: evidencePath,
    cost: 10,
    bodyBytesMax: evidenceCharsMax + 4_096,
    access: {
      kind: 'free',
      handle: async ({ body }) => {
        const taken = await takeEvidence(deps, body)
        if (taken.status === 'unknown_node')
          throw new Problem('not_found', { detail: 'This node does not know that node.' })
        if (taken.status === 'refused') throw refused(`The evidence is not taken: ${taken.reason}.`)
        if (taken.status === 'taken') views.outdated()
        return jsonAnswer({ node: body.node, status: taken.status })
      },
    },
  })
}
