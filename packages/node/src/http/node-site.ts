import { fullDocumentPath, type Site, signedRequests } from '@assay/till/documents'
import { royaltyBps, royaltyHeaders } from './response-headers.ts'
import type { RouteDeclaration } from './route.ts'

export const serviceVersion = '1.0.0'

/** The node as its documents name it. */
export type NodeSite = Site & { apiUrl: string; contactEmail: string; contentLicense: string }

const areaNames: Record<RouteDeclaration['area'], readonly [name: string, description: string]> = {
  A: ['Token control', 'Who controls a B20 token: verdict, powers, evidence.'],
  B: ['Equity squeeze feed', 'Short-squeeze data in tiers, subscriptions, loyalty and affiliates.'],
  C: [
    'Citations and mesh',
    'Citable sources, attestations that pay creators, intent stream, options, identity, other nodes.',
  ],
  core: ['Node', 'Documents of the node, sign-in, credit, payments, and a sandbox to try paying.'],
}

const carries: NonNullable<Site['carries']> = {
  parameters: [
    {
      component: 'Ref',
      name: 'ref',
      in: 'query',
      description: 'Wallet that referred the caller. No part of the resource.',
    },
    { component: 'Aff', name: 'aff', in: 'query', description: 'Affiliate wallet. No part of the resource.' },
    { component: 'AffiliateId', name: 'X-Affiliate-ID', in: 'header', description: 'Affiliate wallet, as `aff`.' },
  ],
  headers: [{ component: 'Next', name: 'X-x402-Next', description: 'Path of the route that helps next.' }],
  answerHeaders: {
    fields: [
      {
        component: 'RoyaltyRecipient',
        name: royaltyHeaders.recipient,
        description: 'Wallet that receives royalties for reuse.',
      },
      {
        component: 'RoyaltyBps',
        name: royaltyHeaders.bps,
        description: 'Royalty in basis points.',
        schema: { type: 'integer', const: royaltyBps },
      },
      {
        component: 'License',
        name: royaltyHeaders.license,
        description: 'Licence of the content; its text is at /license.',
      },
    ],
    on: ({ access, area }) => access.kind === 'paid' || area === 'C',
  },
  rateLimit: true,
}

const signIn: NonNullable<Site['signIn']> = {
  siwx: {
    type: 'apiKey',
    in: 'header',
    name: 'SIGN-IN-WITH-X',
    description: 'CAIP-122 proof over a challenge from POST /v1/auth/challenge.',
  },
  erc8128: signedRequests,
  // Said as a key in a header: readers of documents for agents know no other kind of token.
  bearer: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Bearer` and a token of this node.' },
}

export function nodeSite(facts: {
  baseUrl: string
  apiUrl: string
  contactEmail: string
  contentLicense: string
  serviceName?: string
}): NodeSite {
  const { baseUrl, apiUrl } = facts
  return {
    serviceName: 'Assay',
    ...facts,
    version: serviceVersion,
    summary: 'Verified, signed answers, paid per call in USDC with x402.',
    description:
      'Every answer is signed and says where its figures come from. Prices are per call; nothing is charged for an error.',
    areas: Object.fromEntries(
      Object.entries(areaNames).map(([area, [name, description]]) => [
        area,
        { name, description, url: area === 'C' ? apiUrl : baseUrl },
      ]),
    ),
    carries,
    signIn,
    documents: [
      { title: 'OpenAPI, all of it', path: fullDocumentPath, what: 'every operation in one document' },
      { title: 'Errors', path: '/errors', what: 'every problem code and what to do' },
      { title: 'Licence', path: '/license', what: 'what may be done with the answers' },
    ],
  }
}
