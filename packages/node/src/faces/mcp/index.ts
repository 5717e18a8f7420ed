export { mcpRoutes } from './mcp-routes.ts'
export type { McpDeps } from './mcp-server.ts'
