// A thread does not inherit the loader that runs TypeScript, so it registers that first.
import { register } from 'tsx/esm/api'

register()
await import('./page-worker.ts')
