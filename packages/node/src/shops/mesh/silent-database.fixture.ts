import type { Database } from '@assay/till/store/database'

const unused = () => Promise.reject(new Error('no database here'))

/** For what needs no database. */
export const silentDatabase: Database = {
  query: unused,
  transaction: unused,
  listen: unused,
  holdLock: unused,
  close: async () => {},
}
