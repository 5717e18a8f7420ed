import type { Json } from '@assay/protocol/canonical-json'
import { availabilityOf } from '../selling/availability.ts'
import type { RouteDeclaration } from '../selling/route.ts'
import { areaNameOf, type CarriedField, originOf, priceOf, type Site } from './describe-route.ts'
import { fieldsOf, type JsonSchema, jsonSchemaOf } from './json-schema.ts'

const ref = (path: string): JsonSchema => ({ $ref: `#/components/${path}` })

/** How callers show who they are, if they must. */
export const signInOf = ({ access }: RouteDeclaration): string | undefined =>
  access.kind === 'paid' ? 'x402' : access.security

/** One operation of the OpenAPI document. */
export function operationOf(site: Site, route: RouteDeclaration): JsonSchema {
  const { access } = route
  const signIn = signInOf(route)
  const origin = originOf(site, route)
  const reason = availabilityOf(route)
  const tag = areaNameOf(site, route)
  return {
    operationId: route.id,
    summary: route.summary,
    description: route.description ?? `${route.summary}.`,
    ...(tag === undefined ? {} : { tags: [tag] }),
    ...(origin === new URL(site.baseUrl).origin ? {} : { servers: [{ url: origin }] }),
    parameters: parametersOf(site, route),
    ...(route.body ? { requestBody: requestBodyOf(route, route.body) } : {}),
    responses: responsesOf(site, route),
    security: signIn === undefined ? [] : [{ [signIn]: [] }],
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

function parametersOf(site: Site, route: RouteDeclaration): Json[] {
  const path = fieldsOf(route.params).map(({ name, schema }) => ({
    name,
    in: 'path',
    required: true,
    schema,
    ...exampleMember(route.example?.params?.[name]),
  }))
  const query = fieldsOf(route.query).map(({ name, required, schema }) => ({
    name,
    in: 'query',
    required,
    schema,
    ...exampleMember(route.example?.query?.[name]),
  }))
  const payment =
    route.access.kind === 'paid' ? [ref('parameters/PaymentSignature'), ref('parameters/IdempotencyKey')] : []
  const carried = (site.carries?.parameters ?? []).map(({ component }) => ref(`parameters/${component}`))
  return [...path, ...query, ...carried, ...payment]
}

const exampleMember = (example: string | undefined): JsonSchema => (example === undefined ? {} : { example })

function requestBodyOf(route: RouteDeclaration, body: NonNullable<RouteDeclaration['body']>): JsonSchema {
  return {
    required: true,
    content: {
      [route.bodyFormat === 'text' ? 'text/plain' : 'application/json']: {
        schema: jsonSchemaOf(body, 'input'),
        ...(route.example?.body === undefined ? {} : { example: route.example.body as Json }),
      },
    },
  }
}

function responsesOf(site: Site, route: RouteDeclaration): JsonSchema {
  const paid = route.access.kind === 'paid'
  const content: JsonSchema = {}
  for (const media of route.representations ?? ['application/json'])
    content[media] = isJson(media)
      ? {
          schema: route.output === undefined ? {} : jsonSchemaOf(route.output, 'output'),
          ...(route.example?.output === undefined ? {} : { example: route.example.output as Json }),
        }
      : { schema: { type: 'string' } }
  const more = site.carries?.answerHeaders
  return {
    '200': {
      description: 'The answer, signed.',
      headers: {
        ...signedHeaders(site),
        ...(paid ? { 'PAYMENT-RESPONSE': ref('headers/PaymentResponse') } : {}),
        ...(more?.on(route) ? carriedHeaders(more.fields) : {}),
      },
      content,
    },
    '400': ref('responses/InputInvalid'),
    ...(paid ? { '402': ref('responses/PaymentRequired'), '409': ref('responses/Problem') } : {}),
    ...(site.carries?.rateLimit ? { '429': ref('responses/Problem') } : {}),
    default: ref('responses/Problem'),
  }
}

const isJson = (media: string) => media === 'application/json' || media.endsWith('+json')

export const signedHeaders = ({ carries = {} }: Site): JsonSchema => ({
  'Content-Digest': ref('headers/ContentDigest'),
  'Signature-Input': ref('headers/SignatureInput'),
  Signature: ref('headers/Signature'),
  ...carriedHeaders(carries.headers ?? []),
  'X-Request-Id': ref('headers/RequestId'),
  ...(carries.rateLimit ? { RateLimit: ref('headers/RateLimit') } : {}),
})

const carriedHeaders = (fields: readonly CarriedField[]): JsonSchema =>
  Object.fromEntries(fields.map(({ name, component }) => [name, ref(`headers/${component}`)]))
