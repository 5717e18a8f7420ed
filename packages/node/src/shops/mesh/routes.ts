import { Problem } from '@assay/till/kernel/problem'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { MeshDeps } from './deps.ts'
import { createMeshDocuments } from './describe-mesh.ts'
import { evidenceRoutes } from './evidence-routes.ts'
import { announceBodyBytesMax, announcePath, manifestPath, meshPath } from './limits.ts'
import { listingRoute } from './listing-route.ts'
import type { MeshViews } from './mesh-view.ts'
import { receiveAnnouncement } from './receive-announcement.ts'
import { announceBody, announceOutput, exampleMesh, meshOutput, meshQuery } from './schemas.ts'
import { searchRoute } from './search-route.ts'
import type { Silence } from './silence.ts'
import type { StrangerLimit } from './stranger-limit.ts'
import { visitPauseMs } from './visit-pause.ts'

/** Each round reads the view again: what other nodes ask for all the time is answered from it. */
const briefWithinMs = 5_000

export function meshRoutes(
  deps: MeshDeps,
  views: MeshViews,
  { strangers, silence }: { strangers: StrangerLimit; silence: Silence },
): RouteDeclaration[] {
  const documents = createMeshDocuments(deps)
  return [
    defineRoute({
      id: 'mesh.manifest',
      mcp: 'none',
      main: true,
      manifestPlaces: ['mesh.manifest', 'links.mesh'],
      area: 'C',
      method: 'GET',
      path: meshPath,
      summary: 'This node and the peers it has seen, with prices, health and latency, each in its own signed words',
      query: meshQuery,
      output: meshOutput,
      example: { query: { capability: 'token.control.report' }, output: exampleMesh },
      next: manifestPath,
      cacheSeconds: 1,
      access: {
        kind: 'free',
        handle: async ({ query }) => {
          const withinMs = Math.min(briefWithinMs, deps.settings.visitEveryMs)
          const view = await (query.view === 'brief' ? views.current(withinMs) : views.upToDate())
          const body = await documents(view, query)
          if (body === undefined) throw new Problem('not_found', { detail: 'There is no such page.' })
          return { status: 200, contentType: 'application/json', body }
        },
      },
    }),
    defineRoute({
      id: 'mesh.announce',
      manifestPlaces: ['mesh.announce'],
      area: 'C',
      method: 'POST',
      path: announcePath,
      summary: 'Join the mesh: a node announces itself, signed with its own key (RFC 9421, tag x402-mesh)',
      description:
        'The keys are read from the announced address, so a node can only announce itself. The statement must be newer than the last one seen. docs/mesh-protocol.md has the formats and limits.',
      body: announceBody,
      output: announceOutput,
      example: {
        body: { address: 'https://node.example.org', statement: exampleMesh.node.statement },
        output: {
          did: 'did:web:node.example.org',
          address: 'https://node.example.org',
          accepted: true,
          sequence: 1767225599000,
        },
      },
      next: meshPath,
      cost: 10,
      bodyBytesMax: announceBodyBytesMax,
      access: {
        kind: 'free',
        handle: async ({ body }, call) => {
          const pauseMs = visitPauseMs(deps.settings, views.latest()?.peers.length ?? 0)
          const answer = await receiveAnnouncement(deps, strangers, body, call, pauseMs).catch((error: unknown) => {
            deps.metrics.count('mesh_announcements', { direction: 'in', outcome: 'refused' })
            throw error
          })
          if (body.silent === undefined) views.outdated()
          else await silence.onReported(body.silent, answer.did)
          return jsonAnswer(answer)
        },
      },
    }),
    searchRoute(deps),
    listingRoute(views),
    ...evidenceRoutes(deps, views),
  ]
}
