import { areaNames, exampleUrl, originOf, priceText, type Site, templateOf } from '../../http/describe-route.ts'
import { availabilityOf, type RouteDeclaration } from '../../http/index.ts'
import { fullDocumentPath } from '../openapi/openapi.ts'

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
  const areas = (['A', 'B', 'C', 'core'] as const).filter((area) => shown.some((route) => route.area === area))
  const sections = areas.map((area) => {
    const lines = shown.filter((route) => route.area === area).map((route) => routeLine(site, route))
    return `## ${areaNames[area]}\n\n${lines.join('\n')}`
  })
  return [
    `# ${site.serviceName}`,
    '> Verified, signed answers for people and software agents, paid per call in USDC with x402. No account, no key.',
    ...sections,
    howToPay,
    `## Documents\n\n- [OpenAPI](${base}/openapi.json): what is sold and used most, with schemas and examples\n- [OpenAPI, all of it](${base}${fullDocumentPath}): every operation in one document\n- [Errors](${base}/errors): every problem code and what to do\n- [Keys](${base}/.well-known/http-message-signatures-directory): the keys that sign responses\n- [Licence](${base}/license): what may be done with the answers`,
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
