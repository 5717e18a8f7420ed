import type { AnswerContent } from '@assay/till'
import { type DidFailure, didErrors, errorObject } from './did-error.ts'
import type { Resolution } from './resolve-did.ts'

export const legacyResult = 'application/ld+json;profile="https://w3id.org/did-resolution"'
export const resolutionResult = 'application/did-resolution'
export const dereferencingResult = 'application/did-url-dereferencing'

/** Results first, then bare documents. Which one leads decides what a caller without preference gets. */
export const resultTypes = ['application/json', resolutionResult, dereferencingResult, legacyResult] as const
export const documentTypes = ['application/did', 'application/did+json', 'application/did+ld+json'] as const

const documentType = 'application/did'

/** The answer to a DID, in the form that was asked for. */
export function answerResolution(resolution: Resolution, representation: string, retrieved: string): AnswerContent {
  if (isDocument(representation)) return bareAnswer(resolution, representation)
  const didResolutionMetadata = {
    ...(resolution.status === 'ok' ? { contentType: documentType } : {}),
    ...(resolution.status === 'error' ? { error: faultFor(representation, resolution) } : {}),
    retrieved,
  }
  const body = {
    ...(representation === legacyResult ? { '@context': 'https://w3id.org/did-resolution/v1' } : {}),
    didDocument: resolution.status === 'ok' ? resolution.document : null,
    didResolutionMetadata,
    didDocumentMetadata: resolution.status === 'error' ? {} : resolution.metadata,
  }
  return { status: statusOf(resolution), contentType: representation, body: JSON.stringify(body) }
}

/** The answer to a DID URL: a part of a document, or a document with a part of its services. */
export function answerDereferencing(
  outcome: Resolution | { status: 'content'; content: Record<string, unknown>; metadata: Record<string, unknown> },
  representation: string,
  retrieved: string,
): AnswerContent {
  const content = outcome.status === 'content' ? outcome.content : outcome.status === 'ok' ? outcome.document : null
  if (isDocument(representation))
    return outcome.status === 'content'
      ? { status: 200, contentType: representation, body: JSON.stringify(content) }
      : bareAnswer(outcome, representation)
  const body = {
    content,
    dereferencingMetadata: {
      ...(content === null ? {} : { contentType: documentType }),
      ...(outcome.status === 'error' ? { error: faultFor(representation, outcome) } : {}),
      retrieved,
    },
    contentMetadata: outcome.status === 'error' ? {} : outcome.metadata,
  }
  const status = outcome.status === 'content' ? 200 : statusOf(outcome)
  return { status, contentType: representation, body: JSON.stringify(body) }
}

const isDocument = (representation: string) => (documentTypes as readonly string[]).includes(representation)

function statusOf(resolution: Resolution): number {
  if (resolution.status === 'error') return didErrors[resolution.code].status
  return resolution.status === 'deactivated' ? 410 : 200
}

/** Readers of the older profile know errors as words. */
function faultFor(representation: string, failure: DidFailure): unknown {
  return representation === legacyResult ? didErrors[failure.code].legacy : errorObject(failure)
}

/** There is no document to give: then a problem is said as everywhere, with the type that the specification names. */
function bareAnswer(resolution: Resolution, representation: string): AnswerContent {
  if (resolution.status === 'ok')
    return { status: 200, contentType: representation, body: JSON.stringify(resolution.document) }
  const problem =
    resolution.status === 'error'
      ? errorObject(resolution)
      : {
          type: 'about:blank',
          title: 'Deactivated',
          status: 410,
          detail: 'The wallet behind this DID has deactivated it.',
          didDocumentMetadata: resolution.metadata,
        }
  return { status: statusOf(resolution), contentType: 'application/problem+json', body: JSON.stringify(problem) }
}
