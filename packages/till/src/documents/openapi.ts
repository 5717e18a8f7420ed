import type { RouteDeclaration } from '../selling/route.ts'
import { areaNameOf, type Site, templateOf } from './describe-route.ts'
import type { JsonSchema } from './json-schema.ts'
import { isMainOperation, operationsInlineMax } from './main-operations.ts'
import { openapiComponents } from './openapi-components.ts'
import { operationOf, signInOf } from './openapi-operation.ts'

const guidance = [
  'Call a paid operation without payment: the 402 carries PAYMENT-REQUIRED (x402 v2) with the exact offer.',
  'Sign one entry of `accepts` (EIP-3009, USDC) and send the same request again with PAYMENT-SIGNATURE.',
  'Use one payment-identifier per purchase and the same one on each of its retries.',
  'On 503 never sign a new payment: resend the same one after Retry-After, or poll status_url.',
  'Every response is signed (RFC 9421, ed25519); keys are at /.well-known/http-message-signatures-directory.',
].join(' ')

const tagTextOf = (site: Site, name: string): string => {
  const area = Object.values(site.areas ?? {}).find((one) => one.name === name)
  return area?.description ?? `Operations of ${name}.`
}

export const fullDocumentPath = '/openapi/full.json'

/**
 * OpenAPI 3.1 of every route that is not hidden. Where they are too many for one reading, the `main` document has what
 * buyers use and names the `full` one for the rest.
 */
export function openapiDocument(
  site: Site,
  routes: readonly RouteDeclaration[],
  which: 'full' | 'main' = 'full',
): JsonSchema {
  const all = routes.filter((route) => !route.hidden)
  const shortened = which === 'main' && all.length > operationsInlineMax
  const mainPaths = new Set(all.filter(isMainOperation).map(templateOf))
  const shown = shortened ? all.filter((route) => mainPaths.has(templateOf(route))) : all
  const origin = new URL(site.baseUrl).origin
  // With its origin: a saved copy still leads there.
  const full = `${origin}${fullDocumentPath}`
  const paths: Record<string, JsonSchema> = {}
  for (const route of shown) {
    const template = templateOf(route)
    paths[template] = { ...paths[template], [route.method.toLowerCase()]: operationOf(site, route) }
  }
  const tags = [...new Set(shown.flatMap((route) => areaNameOf(site, route) ?? []))]
  return {
    openapi: '3.1.0',
    info: {
      title: site.serviceName,
      version: site.version,
      summary: site.summary,
      description: shortened
        ? `${site.description} Here are the operations that buyers use; ${full} has all ${all.length}.`
        : site.description,
      contact: {
        name: site.serviceName,
        url: origin,
        ...(site.contactEmail === undefined ? {} : { email: site.contactEmail }),
      },
      ...(site.contentLicense === undefined
        ? {}
        : { license: { name: site.contentLicense, url: `${origin}/license` } }),
      'x-guidance': guidance,
    },
    servers: [{ url: origin }],
    ...(shortened
      ? {
          externalDocs: {
            url: full,
            description: 'All operations in one document',
          },
        }
      : {}),
    tags: tags.map((name) => ({ name, description: tagTextOf(site, name) })),
    paths,
    components: openapiComponents(site, new Set(shown.flatMap((route) => signInOf(route) ?? []))),
  }
}
