import { createRequire } from 'node:module'

/** Of the package: both the sources and the built files are one folder below it. */
export const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
