import { z } from 'zod'
import type { RouteDeclaration } from '../selling/index.ts'
import { type Keyring, keyDirectory, keyDirectoryMediaType, keyDirectoryPath } from '../signing/index.ts'
import type { Site } from './describe-route.ts'
import { errorRoute } from './error-route.ts'
import { llmsTxt } from './llms-txt.ts'
import { openapiDocument } from './openapi.ts'
import { type PaymentAnswerDeps, paymentAnswerRoute } from './payment-answer-route.ts'
import { paymentStatusRoute } from './payment-status-route.ts'
import { legacyManifest } from './x402-manifest.ts'

/** Where a till answers beside the routes it sells. */
export const tillPaths = { payments: '/x402/payments', errors: '/x402/errors' }

export type TillDocumentDeps = PaymentAnswerDeps & {
  site: Site
  keyring: Keyring
  /** What is sold now; documents are written when they are asked for. */
  sold(): readonly RouteDeclaration[]
}

/** What every till publishes: descriptions derived from the declarations, keys, and the status of a payment. */
export function tillDocuments(deps: TillDocumentDeps): RouteDeclaration[] {
  const { site, sql, keyring, sold } = deps
  const payments = [
    paymentStatusRoute(sql, `${tillPaths.payments}/:id`),
    paymentAnswerRoute(deps, `${tillPaths.payments}/:id/answer`),
  ]
  return [
    textRoute('documents.openapi', '/openapi.json', 'OpenAPI 3.1 of what is sold', 'application/json', () =>
      JSON.stringify(openapiDocument(site, [...sold(), ...payments])),
    ),
    textRoute('documents.llms', '/llms.txt', 'What is sold, for language models', 'text/plain; charset=utf-8', () =>
      llmsTxt(site, sold()),
    ),
    textRoute('documents.x402', '/.well-known/x402', 'Paid resources', 'application/json', () =>
      JSON.stringify(legacyManifest(site, sold())),
    ),
    textRoute('documents.keys', keyDirectoryPath, 'Keys that sign responses', keyDirectoryMediaType, () =>
      JSON.stringify(keyDirectory(keyring)),
    ),
    ...payments,
    errorRoute(`${tillPaths.errors}/:code`),
  ]
}

function textRoute(
  id: string,
  path: string,
  summary: string,
  contentType: string,
  write: () => string,
): RouteDeclaration {
  return {
    ...{ id, path, summary, method: 'GET', hidden: true, output: z.unknown() },
    representations: contentType === keyDirectoryMediaType ? [contentType, 'application/json'] : [contentType],
    access: {
      kind: 'free',
      handle: async (_input, { representation }) => ({ status: 200, contentType: representation, body: write() }),
    },
  }
}
