import { createRequire } from 'node:module'

/** The version of the package. Both the sources and the built files are one folder below its `package.json`. */
export const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
