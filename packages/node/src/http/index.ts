// The words in which a shop writes its routes.
export {
  type Availability,
  availabilityOf,
  type CallContext,
  createSince,
  type FreeAccess,
  jsonAnswer,
  notAvailable,
  type PaidAccess,
  type RouteInput,
  type RoutePrice,
  type Since,
  type Unavailable,
} from '@assay/till/selling'
export { capabilityOf } from './capability.ts'
export { createSlots, holding, type Slots } from './connection-slots.ts'
export { documentRoute } from './document-route.ts'
export { errorRoutes } from './error-pages.ts'
export { createEventHub, type EventHub, type HubEvent, type HubReader, type OpenReader } from './event-hub.ts'
export { createFrontDoor, type FrontDoor, type FrontDoorConfig, type FrontDoorDeps } from './front-door.ts'
export type { Readiness } from './handle.ts'
export { demoLimits, type LimitConfig, productionLimits } from './limits.ts'
export { sheddingLoad } from './load.ts'
export { cleanText, createLog } from './log.ts'
export { createMetrics, type PrometheusMetrics } from './metrics.ts'
export { settleNextHops } from './next-hop.ts'
export { nodeServices } from './node-services.ts'
export { type NodeSite, nodeSite, serviceVersion } from './node-site.ts'
export { readKeys } from './read-keys.ts'
export { createRegistry, type RegisteredRoute, type Registry, RouteDeclarationError } from './registry.ts'
export { defineRoute, type RouteDeclaration } from './route.ts'
export { type Listener, type ListenOptions, openListener } from './server.ts'
export {
  type Announcements,
  declareShop,
  type OpenShop,
  type Shop,
  type ShopContext,
  type ShopDeclaration,
} from './shop.ts'
export { createShopPorts, type ShopPort, type ShopPorts, shopPort } from './shop-ports.ts'
export {
  type NodeFacts,
  parseMembers,
  readVariable,
  SettingsError,
  type Values,
  type Variable,
  type Variables,
} from './shop-settings.ts'
export { eventText, signedEvent } from './signed-event.ts'
export { royaltyBps } from './standing-headers.ts'
