// A thread does not inherit the loader that makes TypeScript run: in the clone it registers that first.
import { existsSync } from 'node:fs'

const source = new URL('./reader-worker.ts', import.meta.url)
if (existsSync(source)) {
  const { register } = await import('tsx/esm/api')
  register()
  await import(source.href)
} else await import('./reader-worker.js')
