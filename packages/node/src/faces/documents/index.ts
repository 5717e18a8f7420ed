export { discoveryRoutes } from './routes.ts'
export type { NodeFacts } from './x402-manifest.ts'
