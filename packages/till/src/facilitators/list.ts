// One line a kind of facilitator. Each is also what an embedder imports to choose it.
export { cdp } from './cdp/index.ts'
export { http } from './http/index.ts'
export { local } from './local/index.ts'
