export { type AnswerDeps, announcesBody, answerRequest, type OpenRoute } from './answer-request.ts'
export {
  type Availability,
  availabilityOf,
  createSince,
  notAvailable,
  type Since,
  type Unavailable,
} from './availability.ts'
export { defaultBodyBytes, tooLarge } from './body-limit.ts'
export { findDeclarationFaults, findExampleFaults, paramNames } from './check-routes.ts'
export {
  declareSale,
  type PriceDeclaration,
  type SaleCall,
  type SaleDeclaration,
  type SaleEffect,
  type SaleHandler,
} from './declare-sale.ts'
export { digestBody } from './digest.ts'
export { isHeaderName, isReserved, safeHeaderValue } from './header-rules.ts'
export { jsonAnswer } from './json-answer.ts'
export { negotiate } from './negotiate.ts'
export { type PaidEntry, paidEntryOf, representationsOf } from './paid-route.ts'
export { decodePathParam } from './path-params.ts'
export { createPathTree, type PathMatch, segmentsOf } from './path-tree.ts'
export { emptyBody, headersOf, isStream, type PlainRequest, type PlainResponse } from './plain.ts'
export { type FieldProblem, type ReadQuery, readQuery } from './query.ts'
export { type AttributionReader, type ReadInput, readInput } from './read-input.ts'
export { carriesCredential, carriesPayment, headerBytesMax, headerLinesMax, readHeaders } from './request-headers.ts'
export { createRequestIds } from './request-id.ts'
export { resourcePathOf } from './resource-path.ts'
export {
  createResponder,
  type Exchange,
  type Responder,
  type ResponderConfig,
  type ResponseParts,
} from './respond.ts'
export type {
  CallContext,
  DescribedRoute,
  FreeAccess,
  PaidAccess,
  RouteDeclaration,
  RouteExample,
  RouteInput,
  RoutePrice,
} from './route.ts'
export type { InputOf, OutputOf, Schema } from './schema.ts'
export { type PaidRequest, type SellDeps, type SellOptions, type SoldCall, sellCall } from './sell-call.ts'
export { createSharedChallenges } from './shared-challenges.ts'
export type { SoldRequest } from './sold-request.ts'
export { splitTarget, type Target, targetBytesMax } from './target.ts'
export { createTimeLimit, defaultHandlerMs, type TimeLimit } from './time-limit.ts'
export { fromWebRequest, targetOf, toWebResponse } from './web-request.ts'
