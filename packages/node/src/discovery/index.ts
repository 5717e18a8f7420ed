export { bazaarExtension } from './bazaar.ts'
export { type Site, serviceVersion } from './describe-route.ts'
export { openapiDocument } from './openapi.ts'
export { type DiscoveryDeps, discoveryRoutes } from './routes.ts'
