export { listSubscriptions } from './list-subscriptions.ts'
