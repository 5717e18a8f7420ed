import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from '../../../http/index.ts'
import { exampleDid, exampleDocument } from '../examples.ts'
import { documentTypes, resolutionResult, resultTypes } from './answer-resolution.ts'
import { handleResolve, type ResolveDeps } from './handle-resolve.ts'

const option = z.string().max(512)
// Other names are refused by the resolver itself, in the words of the specification.
const options = z
  .object({
    versionId: option.optional().describe('A version of what the wallet declared.'),
    versionTime: option.optional().describe('RFC 3339, in UTC.'),
    expandRelativeUrls: option.optional(),
    service: option.optional().describe('Id of a service, whole or its fragment.'),
    serviceType: option.optional(),
    verificationRelationship: option.optional(),
  })
  .catchall(option)

/** W3C DID Resolution, at our own address and at the one that resolvers have everywhere. */
export function resolveRoutes(deps: ResolveDeps): RouteDeclaration[] {
  return [
    resolveRoute(deps, 'did.resolve', '/v1/did/resolve', [...resultTypes, ...documentTypes]),
    resolveRoute(deps, 'did.identifiers', '/1.0/identifiers', [
      resolutionResult,
      ...resultTypes.filter((type) => type !== resolutionResult),
      ...documentTypes,
    ]),
  ]
}

function resolveRoute(
  deps: ResolveDeps,
  id: string,
  base: string,
  representations: readonly string[],
): RouteDeclaration {
  return defineRoute({
    id,
    area: 'C',
    method: 'GET',
    path: `${base}/:did`,
    summary: 'Resolve the DID of an agent or node: keys, services, rating, capabilities, payment authorizations',
    description: `W3C DID Resolution for did:${deps.didMethod}:0x…, did:pkh:eip155:…, and did:web of this node and its mesh. Accept chooses the resolution result, the dereferencing result or the bare document. Every well-formed wallet DID resolves; creditRating is null without evidence.`,
    // Longer and stranger texts are answered by the resolver itself, in the words of the specification.
    params: z.strictObject({ did: z.string() }),
    query: options,
    representations,
    output: z.looseObject({
      didDocument: z.looseObject({ id: z.string() }).nullable(),
      didResolutionMetadata: z.looseObject({}),
      didDocumentMetadata: z.looseObject({}),
    }),
    example: {
      params: { did: exampleDid(deps.didMethod) },
      output: {
        didDocument: exampleDocument(deps.didMethod),
        didResolutionMetadata: { contentType: 'application/did', retrieved: '2026-01-02T03:04:05.000Z' },
        didDocumentMetadata: { canonicalId: exampleDid(deps.didMethod), versionId: '1' },
      },
    },
    next: '/v1/agents/:did',
    access: { kind: 'free', handle: ({ query }, call) => handleResolve(deps, `${base}/`, query, call) },
  })
}
