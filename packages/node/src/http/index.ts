export { type OpsDeps, opsRoutes, type ReadinessCheck } from '../faces/ops/routes.ts'
export { createSlots, holding, type Slots } from './connection-slots.ts'
export { errorRoutes } from './error-pages.ts'
export { createEventHub, type EventHub, type HubEvent, type HubReader, type OpenReader } from './event-hub.ts'
export { createFrontDoor, type FrontDoor, type FrontDoorConfig, type FrontDoorDeps } from './front-door.ts'
export type { Readiness } from './handle.ts'
export { jsonAnswer } from './json-answer.ts'
export { demoLimits, type LimitConfig, productionLimits } from './limits.ts'
export { sheddingLoad } from './load.ts'
export { cleanText, createLog } from './log.ts'
export { createMetrics, type PrometheusMetrics } from './metrics.ts'
export { isStream, type PlainRequest, type PlainResponse } from './plain.ts'
export { createRegistry, type RegisteredRoute, type Registry, RouteDeclarationError } from './registry.ts'
export {
  type CallContext,
  defineRoute,
  type FreeAccess,
  type PaidAccess,
  type RouteDeclaration,
  type RouteInput,
  type RoutePrice,
} from './route.ts'
export { type Listener, type ListenOptions, openListener } from './server.ts'
export type { Announcements, OpenShop, Shop, ShopContext, ShopJob } from './shop.ts'
export { eventText, signedEvent } from './signed-event.ts'
export { royaltyBps } from './standing-headers.ts'
