import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Metrics } from '@assay/till/kernel/metrics'
import { Problem } from '@assay/till/kernel/problem'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { logPath, type Witness } from '../../tlog/index.ts'
import { readCosigned, readWitnessed } from '../../tlog/witness-store.ts'

export type WitnessRouteDeps = { database: Sql; witness: Witness; metrics: Metrics; apiUrl: string }

export const witnessPath = '/v1/witness'
const noteExample = 'node.example.org/v1/log\n70000\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'
const shownMax = 100
const bodyCharactersMax = 20_000

export function witnessRoutes(deps: WitnessRouteDeps): RouteDeclaration[] {
  return [describeRoute(deps), addRoute(deps), headRoute(deps)]
}

function describeRoute({ database, witness, apiUrl }: WitnessRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'log.witness',
    capability: 'citations.log.witness',
    area: 'C',
    method: 'GET',
    path: witnessPath,
    summary: 'The witness that this node is to its mesh peers: its key, and the logs it cosigned',
    description:
      'A witness in the sense of C2SP tlog-witness. It cosigns a tree head of a known peer once it has seen a proof that the log only grew. `first_size` is the size at which it met the log: what came before is not vouched for.',
    output: z.object({
      url: z.string(),
      key: z.string(),
      logs: z.array(
        z.object({
          origin: z.string(),
          size: z.string(),
          first_size: z.string().nullable(),
          cosigned_at: z.string().nullable(),
        }),
      ),
    }),
    example: {
      output: {
        url: 'https://api.example.org/v1/witness',
        key: 'api.example.org/v1/witness+1f2e3d4c+BA…',
        logs: [
          {
            origin: 'node.example.org/v1/log',
            size: '70000',
            first_size: '12',
            cosigned_at: '2026-01-01T00:00:00.000Z',
          },
        ],
      },
    },
    next: logPath,
    cacheSeconds: 1,
    access: {
      kind: 'free',
      handle: async () => {
        const logs = await readWitnessed(database, witness.key.name, shownMax)
        return jsonAnswer({
          url: `${apiUrl}${witnessPath}`,
          key: witness.key.vkey,
          logs: logs.map((row) => ({
            origin: row.origin,
            size: String(row.size),
            first_size: row.first_size === null ? null : String(row.first_size),
            cosigned_at: row.cosigned_at && toRfc3339(row.cosigned_at.getTime()),
          })),
        })
      },
    },
  })
}

function addRoute({ witness, metrics }: WitnessRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'log.witness.add',
    capability: 'citations.log.witness.add',
    area: 'C',
    method: 'POST',
    path: `${witnessPath}/add-checkpoint`,
    summary: 'C2SP tlog-witness: submit a tree head with a consistency proof, get a cosignature',
    body: z.string().max(bodyCharactersMax),
    bodyFormat: 'text',
    bodyBytesMax: 65_536,
    representations: ['text/plain'],
    output: z.string(),
    example: {
      body: `old 0\n\n${noteExample}\n— node.example.org/v1/log …\n`,
      output: '— api.example.org/v1/witness …\n',
    },
    next: witnessPath,
    cost: 5,
    // Machines that speak the protocol know it; it is no tool for an agent.
    hidden: true,
    access: {
      kind: 'free',
      handle: async ({ body }) => {
        const answer = await witness.addCheckpoint(body)
        metrics.count('log_witness_requests', { status: String(answer.status) })
        return answer
      },
    },
  })
}

function headRoute({ database, witness }: WitnessRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'log.witness.head',
    capability: 'citations.log.witness.head',
    area: 'C',
    method: 'GET',
    path: `${witnessPath}/:origin_hash/checkpoint`,
    summary: 'C2SP tlog-witness: the head this witness cosigned last; the log is named by SHA-256 of its origin',
    params: z.strictObject({ origin_hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be SHA-256 in lowercase hex') }),
    representations: ['text/plain'],
    output: z.string(),
    example: { params: { origin_hash: '0'.repeat(64) }, output: noteExample },
    next: witnessPath,
    hidden: true,
    cacheSeconds: 1,
    access: {
      kind: 'free',
      handle: async ({ params }) => {
        const note = await readCosigned(database, witness.key.name, params.origin_hash)
        if (note === undefined) throw new Problem('not_found', { detail: 'No head of this log was cosigned here.' })
        return { status: 200, contentType: 'text/plain; charset=utf-8', body: note }
      },
    },
  })
}
