import type { Json } from '@assay/protocol/canonical-json'
import { areaNames, originOf, priceOf, type Site } from '../../http/describe-route.ts'
import { availabilityOf, type RouteDeclaration } from '../../http/index.ts'
import { fieldsOf, type JsonSchema, jsonSchemaOf } from '../../http/json-schema.ts'

const ref = (path: string): JsonSchema => ({ $ref: `#/components/${path}` })

/** One operation of the OpenAPI document. */
export function operationOf(site: Site, route: RouteDeclaration): JsonSchema {
  const { access } = route
  const security = access.kind === 'free' ? (access.security ? [{ [access.security]: [] }] : []) : undefined
  const origin = originOf(site, route)
  const reason = availabilityOf(route)
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [areaNames[route.area]],
    ...(origin === new URL(site.baseUrl).origin ? {} : { servers: [{ url: origin }] }),
    parameters: parametersOf(route),
    ...(route.body ? { requestBody: requestBodyOf(route, route.body) } : {}),
    responses: responsesOf(route),
    ...(security === undefined ? {} : { security }),
    ...(access.kind === 'paid' ? { 'x-payment-info': paymentInfoOf(route), 'x-networks': access.networks } : {}),
    ...(reason === undefined ? {} : { 'x-not-available': reason }),
  }
}

function paymentInfoOf(route: RouteDeclaration): JsonSchema {
  const price = priceOf(route)
  return {
    price: price?.fixed
      ? { mode: 'fixed', currency: 'USD', amount: price.lowestUsd }
      : { mode: 'dynamic', currency: 'USD', min: price?.lowestUsd, max: price?.highestUsd },
    protocols: [{ x402: {} }],
  }
}

function parametersOf(route: RouteDeclaration): Json[] {
  const path = fieldsOf(route.params).map(({ name, schema }) => ({
    name,
    in: 'path',
    required: true,
    schema,
    ...exampleMember(route.example.params?.[name]),
  }))
  const query = fieldsOf(route.query).map(({ name, required, schema }) => ({
    name,
    in: 'query',
    required,
    schema,
    ...exampleMember(route.example.query?.[name]),
  }))
  const payment = route.access.kind === 'paid' ? [ref('parameters/PaymentSignature')] : []
  return [...path, ...query, ref('parameters/Ref'), ref('parameters/Aff'), ref('parameters/AffiliateId'), ...payment]
}

const exampleMember = (example: string | undefined): JsonSchema => (example === undefined ? {} : { example })

function requestBodyOf(route: RouteDeclaration, body: NonNullable<RouteDeclaration['body']>): JsonSchema {
  return {
    required: true,
    content: {
      [route.bodyFormat === 'text' ? 'text/plain' : 'application/json']: {
        schema: jsonSchemaOf(body, 'input'),
        example: route.example.body as Json,
      },
    },
  }
}

function responsesOf(route: RouteDeclaration): JsonSchema {
  const paid = route.access.kind === 'paid'
  const content: JsonSchema = {}
  for (const media of route.representations ?? ['application/json'])
    content[media] = isJson(media)
      ? { schema: jsonSchemaOf(route.output, 'output'), example: route.example.output as Json }
      : { schema: { type: 'string' } }
  const royalty = paid || route.area === 'C'
  return {
    '200': {
      description: 'The answer, signed.',
      headers: {
        ...signedHeaders,
        ...(paid ? { 'PAYMENT-RESPONSE': ref('headers/PaymentResponse') } : {}),
        ...(royalty ? royaltyHeaders : {}),
      },
      content,
    },
    '400': ref('responses/InputInvalid'),
    ...(paid ? { '402': ref('responses/PaymentRequired'), '409': ref('responses/Problem') } : {}),
    '429': ref('responses/Problem'),
    default: ref('responses/Problem'),
  }
}

const isJson = (media: string) => media === 'application/json' || media.endsWith('+json')

export const signedHeaders: JsonSchema = {
  'Content-Digest': ref('headers/ContentDigest'),
  'Signature-Input': ref('headers/SignatureInput'),
  Signature: ref('headers/Signature'),
  'X-x402-Next': ref('headers/Next'),
  'X-Request-Id': ref('headers/RequestId'),
  RateLimit: ref('headers/RateLimit'),
}

const royaltyHeaders: JsonSchema = {
  'X-X402-Royalty-Recipient': ref('headers/RoyaltyRecipient'),
  'X-X402-Royalty-Bps': ref('headers/RoyaltyBps'),
  'X-X402-License': ref('headers/License'),
}
