// A thread does not inherit the loader that makes TypeScript run, so it registers that first.
import { register } from 'tsx/esm/api'

register()
await import('./index-worker.ts')
