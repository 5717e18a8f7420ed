import { declarationCharsMax } from '@assay/protocol/mesh/agent-declaration'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import type { IdentityDeps } from '../deps.ts'
import { exampleCapabilities, exampleWallet } from '../examples.ts'
import { submitterOf } from './declare-capabilities.ts'
import { readDeclarations, requireAccepted, signedDeclaration, takeDeclaration } from './signed-declarations.ts'

const path = '/v1/agent-declarations'
const exampleSigned = {
  type: 'x402-agent-declaration' as const,
  account: `eip155:8453:${exampleWallet.toLowerCase()}`,
  sequence: 1767225600000,
  declaration: { name: 'Search agent', capabilities: exampleCapabilities },
  signature: `0x${'11'.repeat(64)}1b`,
}

/** Declarations that travel: signed once by the wallet, good at every node of the mesh. */
export function declarationRoutes(deps: IdentityDeps): RouteDeclaration[] {
  return [
    defineRoute({
      id: 'agents.declarations',
      area: 'C',
      method: 'GET',
      path,
      summary: 'Declarations of agents as their wallets signed them, for other nodes',
      query: z.strictObject({ since: z.coerce.number().int().min(0).max(8_640_000_000_000).optional() }),
      output: z.strictObject({ data: z.array(signedDeclaration), until_ms: z.int() }),
      example: { output: { data: [exampleSigned], until_ms: 1767225600000 } },
      next: '/v1/agents',
      cacheSeconds: 1,
      access: {
        kind: 'free',
        handle: async ({ query }) => jsonAnswer(await readDeclarations(deps, query.since ?? 0)),
      },
    }),
    defineRoute({
      id: 'agents.declarations.give',
      area: 'C',
      method: 'POST',
      path,
      summary: 'Declare what an agent can do, at all nodes of the mesh; signed once by its wallet',
      body: signedDeclaration,
      output: z.strictObject({ account: z.string(), status: z.enum(['taken', 'known']), version: z.int() }),
      example: { body: exampleSigned, output: { account: exampleSigned.account, status: 'taken', version: 1 } },
      next: '/v1/agents',
      cost: 10,
      bodyBytesMax: declarationCharsMax,
      access: {
        kind: 'free',
        handle: async ({ body }, call) => {
          const { status, version } = requireAccepted(await takeDeclaration(deps, body, submitterOf(call)))
          return jsonAnswer({ account: body.account, status, version })
        },
      },
    }),
  ]
}
