import { availabilityOf } from '../selling/availability.ts'
import type { RouteDeclaration } from '../selling/route.ts'
import { keyDirectoryPath } from '../signing/index.ts'
import { exampleUrl, originOf, priceText, type Site, templateOf } from './describe-route.ts'

const commonDocuments = [
  { title: 'OpenAPI', path: '/openapi.json', what: 'what is sold and used most, with schemas and examples' },
  { title: 'Keys', path: keyDirectoryPath, what: 'the keys that sign responses' },
]

const howToPay = `## How to pay

1. Send the request without payment. The answer is 402 with the header PAYMENT-REQUIRED (base64 JSON, x402 v2); its \`accepts\` lists amount, network, asset and payee.
2. Sign one entry: EIP-3009 transferWithAuthorization of USDC for exactly that amount.
3. Send the same request again with PAYMENT-SIGNATURE (base64 JSON of the PaymentPayload). The answer comes with PAYMENT-RESPONSE.

- Wrong input costs nothing: it is refused with 400 before any money is taken.
- 402 means that no money moved. 503 means: do not sign again, resend the same payment after Retry-After.
- Put one payment-identifier into each purchase and use the same one on each of its retries: a lost answer is then given again.
- Every response is signed (RFC 9421, ed25519).`

/** The site in the form that language models read: what there is, what it costs, how to buy it. */
export function llmsTxt(site: Site, routes: readonly RouteDeclaration[]): string {
  const shown = routes.filter((route) => !route.hidden)
  const base = new URL(site.baseUrl).origin
  const areas = Object.entries(site.areas ?? {})
  const placed = new Set(areas.map(([area]) => area))
  const section = (name: string, routes: readonly RouteDeclaration[]) =>
    routes.length === 0 ? [] : [`## ${name}\n\n${routes.map((route) => routeLine(site, route)).join('\n')}`]
  const sections = [
    ...areas.flatMap(([area, { name }]) =>
      section(
        name,
        shown.filter((route) => route.area === area),
      ),
    ),
    ...section(
      'Routes',
      shown.filter((route) => !placed.has(route.area ?? '')),
    ),
  ]
  const documents = [...commonDocuments, ...(site.documents ?? [])]
  return [
    `# ${site.serviceName}`,
    `> ${site.summary} No account, no key.`,
    ...sections,
    howToPay,
    `## Documents\n\n${documents.map(({ title, path, what }) => `- [${title}](${base}${path}): ${what}`).join('\n')}`,
    '',
  ].join('\n\n')
}

function routeLine(site: Site, route: RouteDeclaration): string {
  const { method } = route
  const reason = availabilityOf(route)
  const notNow = reason === undefined ? '' : ` Not for sale now: ${reason.detail}`
  const example = method === 'GET' ? ` Example: ${exampleUrl(site, route)}` : ''
  return `- [${method} ${templateOf(route)}](${originOf(site, route)}${templateOf(route)}): ${route.summary} (${priceText(route)}).${notNow}${example}`
}
