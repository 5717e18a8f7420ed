// The words in which a shop writes its routes.
export {
  type Availability,
  availabilityOf,
  type CallContext,
  createSince,
  type FreeAccess,
  jsonAnswer,
  type RouteInput,
  type Since,
  type Unavailable,
} from '@assay/till/selling'
export type { SocketHandle } from './acceptors.ts'
export { capabilityOf } from './capability.ts'
export { limitKey } from './client-address.ts'
export { createSlots, holding } from './connection-slots.ts'
export { errorRoutes } from './error-pages.ts'
export { createEventHub, type EventHub, type HubEvent } from './event-hub.ts'
export { createHttpApp, type HttpApp, type HttpAppConfig } from './http-app.ts'
export { sheddingLoad } from './load.ts'
export { createLog } from './log.ts'
export { createMetrics, type Families, mergedText, type PrometheusMetrics } from './metrics.ts'
export { settleNextHops } from './next-hop.ts'
export { nodeServices } from './node-services.ts'
export { type NodeSite, nodeSite, serviceVersion } from './node-site.ts'
export { pageLimit } from './page-limit.ts'
export { readKeys } from './read-keys.ts'
export { createRegistry, type Registry } from './registry.ts'
export { royaltyBps } from './response-headers.ts'
export { defineRoute, type RouteDeclaration } from './route.ts'
export { openListener } from './server.ts'
export { eventText, signedEvent } from './signed-event.ts'
export { signerOf } from './signer-of.ts'
