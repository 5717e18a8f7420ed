import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import { listingPath, meshPath } from './limits.ts'
import { agentCards, bazaarItems, registrationFiles } from './listings.ts'
import type { MeshViews } from './mesh-view.ts'

const shapes = { bazaar: bazaarItems, a2a: agentCards, erc8004: registrationFiles } as const
const peersPerPage = 16

/** The peers of the mesh in the shapes that other directories read. */
export function listingRoute(views: MeshViews): RouteDeclaration {
  return defineRoute({
    id: 'mesh.listing',
    area: 'C',
    method: 'GET',
    path: listingPath,
    summary: 'The peers of this node as a Bazaar listing, as A2A cards or as ERC-8004 registration files',
    query: z.strictObject({
      shape: z.enum(['bazaar', 'a2a', 'erc8004']),
      cursor: z
        .string()
        .regex(/^[1-9]\d{0,2}$/, 'is not valid')
        .optional(),
    }),
    output: z.strictObject({ items: z.array(z.looseObject({})), next_cursor: z.string().nullable() }),
    example: { query: { shape: 'bazaar' }, output: { items: [], next_cursor: null } },
    next: meshPath,
    cost: 2,
    cacheSeconds: 1,
    access: {
      kind: 'free',
      handle: async ({ query }) => {
        const { peers } = await views.upToDate()
        const from = Number(query.cursor ?? 0)
        const next = from + peersPerPage
        const shape: keyof typeof shapes = query.shape
        const items = shapes[shape](peers.slice(from, next))
        return jsonAnswer({ items, next_cursor: next < peers.length ? String(next) : null })
      },
    },
  })
}
