export { paymentRoutes } from './payment-routes.ts'
export { sandboxRoutes } from './sandbox-routes.ts'
