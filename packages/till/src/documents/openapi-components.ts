import { knownProblems } from '../kernel/problem.ts'
import type { CarriedField, Site } from './describe-route.ts'
import type { JsonSchema } from './json-schema.ts'
import { signedHeaders } from './openapi-operation.ts'

const header = (description: string, schema: JsonSchema = { type: 'string' }): JsonSchema => ({ description, schema })

const carriedHeaders = (fields: readonly CarriedField[] = []): JsonSchema =>
  Object.fromEntries(fields.map(({ component, description, schema }) => [component, header(description, schema)]))

const parameter = (name: string, place: 'query' | 'header', description: string): JsonSchema => ({
  name,
  in: place,
  required: false,
  description,
  schema: { type: 'string' },
})

const problemSchema = (): JsonSchema => ({
  type: 'object',
  description: 'RFC 9457 problem.',
  required: ['type', 'title', 'status', 'code', 'retryable', 'hint'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'Resolves to an explanation of the code.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: knownProblems().map(({ code }) => code) },
    retryable: { type: 'boolean', description: 'Whether the same request can succeed later.' },
    detail: { type: 'string' },
    hint: { type: 'string', description: 'What to do next.' },
    request_id: { type: 'string' },
    problems: {
      type: 'array',
      description: 'Every field that is wrong, with `input_invalid`.',
      items: {
        type: 'object',
        required: ['field', 'problem'],
        properties: { field: { type: 'string' }, problem: { type: 'string' } },
      },
    },
  },
})

const problemContent: JsonSchema = {
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
}

const paymentRequiredContent: JsonSchema = {
  'application/problem+json': {
    schema: {
      allOf: [
        { $ref: '#/components/schemas/Problem' },
        {
          type: 'object',
          required: ['accepts', 'resource'],
          properties: {
            input_problem: {
              description: 'First member, where input was sent and is wrong. It would be refused, and not charged.',
              allOf: [{ $ref: '#/components/schemas/Problem' }],
            },
            x402Version: { const: 2 },
            error: { type: 'string', description: 'For clients of x402 version 1: what to do.' },
            accepts: { type: 'array', items: { $ref: '#/components/schemas/PaymentRequirements' } },
            resource: { type: 'object' },
            data_state: {
              description: 'What the answer would be made from now: its age, its coverage, what is missing.',
            },
          },
        },
      ],
    },
  },
}

const paymentRequirements: JsonSchema = {
  type: 'object',
  required: ['scheme', 'network', 'amount', 'asset', 'payTo', 'maxTimeoutSeconds'],
  properties: {
    scheme: { const: 'exact' },
    network: { type: 'string', description: 'CAIP-2.' },
    amount: { type: 'string', description: 'Atomic units of the asset.' },
    asset: { type: 'string' },
    payTo: { type: 'string' },
    maxTimeoutSeconds: { type: 'integer' },
    extra: { type: 'object' },
  },
}

const payment: JsonSchema = {
  type: 'apiKey',
  in: 'header',
  name: 'PAYMENT-SIGNATURE',
  description: 'A payment for this request (x402 v2). The 402 says what to sign; no account is needed.',
}

export const signedRequests: JsonSchema = {
  type: 'apiKey',
  in: 'header',
  name: 'Signature',
  description: 'RFC 9421 signature of the request by a wallet (ERC-8128), with nonce, valid for 60 s at most.',
}

const securitySchemes = ({ signIn = { erc8128: signedRequests } }: Site, signedInBy: ReadonlySet<string>) =>
  Object.fromEntries(Object.entries({ x402: payment, ...signIn }).filter(([name]) => signedInBy.has(name)))

/** What all operations share, with the ways to sign in that these use: linters ask what the others are for. */
export const openapiComponents = (site: Site, signedInBy: ReadonlySet<string>): JsonSchema => ({
  securitySchemes: securitySchemes(site, signedInBy),
  parameters: {
    ...Object.fromEntries(
      (site.carries?.parameters ?? []).map((one) => [one.component, parameter(one.name, one.in, one.description)]),
    ),
    PaymentSignature: parameter(
      'PAYMENT-SIGNATURE',
      'header',
      'Base64 of an x402 v2 PaymentPayload. Its extension `payment-identifier` (16 to 128 of A-Z a-z 0-9 _ -, secret, the same on ' +
        'every retry) gives a lost answer again without paying again.',
    ),
    IdempotencyKey: parameter(
      'Idempotency-Key',
      'header',
      'For calls paid from credit, a subscription or a pass: 1 to 128 visible ASCII characters, the same on every retry. The same ' +
        'key and request give the saved answer; the same key with another request is 409. Payments by x402 use `payment-identifier`.',
    ),
  },
  headers: {
    PaymentRequired: header('Base64 of an x402 v2 PaymentRequired.'),
    PaymentResponse: header('Base64 of an x402 v2 SettlementResponse.'),
    ContentDigest: header('RFC 9530 digest of the body.'),
    SignatureInput: header('RFC 9421, tag x402-response.'),
    Signature: header('RFC 9421, ed25519.'),
    ...carriedHeaders(site.carries?.headers),
    RequestId: header('Names this exchange in logs.'),
    ...(site.carries?.rateLimit ? { RateLimit: header('What is left of the limit.') } : {}),
    ...carriedHeaders(site.carries?.answerHeaders?.fields),
  },
  schemas: { Problem: problemSchema(), PaymentRequirements: paymentRequirements },
  responses: {
    Problem: {
      description: 'A problem; `code` and `hint` say what to do.',
      headers: signedHeaders(site),
      content: problemContent,
    },
    InputInvalid: {
      description: 'The input is not valid; nothing was charged.',
      headers: signedHeaders(site),
      content: problemContent,
    },
    PaymentRequired: {
      description: 'What to pay, to whom and how. No money has moved.',
      headers: { 'PAYMENT-REQUIRED': { $ref: '#/components/headers/PaymentRequired' }, ...signedHeaders(site) },
      content: paymentRequiredContent,
    },
  },
})
