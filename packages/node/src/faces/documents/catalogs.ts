import { fullDocumentPath } from '@assay/till/documents'
import type { NodeSite } from '../../http/node-site.ts'

/** RFC 9727: one link set that leads from the origin to its descriptions. */
export function apiCatalog(site: NodeSite) {
  const origins = [...new Set([new URL(site.baseUrl).origin, new URL(site.apiUrl).origin])]
  const base = origins[0] ?? ''
  return {
    linkset: origins.map((anchor) => ({
      anchor: `${anchor}/`,
      'service-desc': ['/openapi.json', fullDocumentPath].map((path) => ({
        href: `${base}${path}`,
        type: 'application/json',
      })),
      'service-doc': [{ href: `${base}/llms.txt`, type: 'text/plain' }],
      'service-meta': [{ href: `${base}/.well-known/x402`, type: 'application/json' }],
      status: [{ href: `${anchor}/readyz`, type: 'application/json' }],
      license: [{ href: `${base}/license`, type: 'text/plain' }],
    })),
  }
}
