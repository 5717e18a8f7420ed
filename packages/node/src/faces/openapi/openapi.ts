import { areaNames, type Site, serviceVersion, templateOf } from '../../http/describe-route.ts'
import type { RouteDeclaration } from '../../http/index.ts'
import type { JsonSchema } from '../../http/json-schema.ts'
import { isMainOperation, operationsInlineMax } from './main-operations.ts'
import { openapiComponents } from './openapi-components.ts'
import { operationOf } from './openapi-operation.ts'

const guidance = [
  'Call a paid operation without payment: the 402 carries PAYMENT-REQUIRED (x402 v2) with the exact offer.',
  'Sign one entry of `accepts` (EIP-3009, USDC) and send the same request again with PAYMENT-SIGNATURE.',
  'Use one payment-identifier per purchase and the same one on each of its retries.',
  'On 503 never sign a new payment: resend the same one after Retry-After, or poll status_url.',
  'Every response is signed (RFC 9421, ed25519); keys are at /.well-known/http-message-signatures-directory.',
].join(' ')

export const fullDocumentPath = '/openapi/full.json'

/**
 * OpenAPI 3.1 of every route that is not hidden. The `main` document spells out what buyers use and names the other
 * paths by reference into the `full` one, where there are too many for one reading.
 */
export function openapiDocument(
  site: Site,
  routes: readonly RouteDeclaration[],
  which: 'full' | 'main' = 'full',
): JsonSchema {
  const shown = routes.filter((route) => !route.hidden)
  const shortened = which === 'main' && shown.length > operationsInlineMax
  const mainPaths = new Set(shown.filter(isMainOperation).map(templateOf))
  const paths: Record<string, JsonSchema> = {}
  for (const route of shown) {
    const template = templateOf(route)
    paths[template] =
      shortened && !mainPaths.has(template)
        ? { $ref: `${fullDocumentPath}#/paths/${template.replaceAll('~', '~0').replaceAll('/', '~1')}` }
        : { ...paths[template], [route.method.toLowerCase()]: operationOf(site, route) }
  }
  const areas = [...new Set(shown.map((route) => route.area))]
  return {
    openapi: '3.1.0',
    info: {
      title: site.serviceName,
      version: serviceVersion,
      summary: 'Verified, signed answers, paid per call in USDC with x402.',
      description:
        'Every answer is signed and says where its figures come from. Prices are per call; nothing is charged for an error.',
      contact: { name: site.serviceName, url: new URL(site.baseUrl).origin, email: site.contactEmail },
      license: { name: site.contentLicense, url: `${new URL(site.baseUrl).origin}/license` },
      'x-guidance': guidance,
    },
    servers: [{ url: new URL(site.baseUrl).origin }],
    ...(shortened
      ? {
          externalDocs: {
            url: `${new URL(site.baseUrl).origin}${fullDocumentPath}`,
            description: 'All operations in one document',
          },
        }
      : {}),
    tags: areas.map((area) => ({ name: areaNames[area] })),
    paths,
    components: openapiComponents(),
  }
}
