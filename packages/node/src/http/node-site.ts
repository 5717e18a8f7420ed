import type { Site } from '@assay/till/documents'
import { fullDocumentPath } from '@assay/till/documents'
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
    carries: { attribution: true, royalties: true, nextHop: true, rateLimit: true },
    documents: [
      { title: 'OpenAPI, all of it', path: fullDocumentPath, what: 'every operation in one document' },
      { title: 'Errors', path: '/errors', what: 'every problem code and what to do' },
      { title: 'Licence', path: '/license', what: 'what may be done with the answers' },
    ],
  }
}
