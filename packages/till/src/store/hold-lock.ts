import { type ConnectionTarget, connectClient } from './connection.ts'
import type { HeldLock } from './database.ts'

/** The lock lives exactly as long as its connection, so it ends with the process however that dies. */
export async function holdLock(target: ConnectionTarget, key: bigint): Promise<HeldLock> {
  const client = await connectClient(target, { lock_timeout: 10_000 })
  const lost = new AbortController()
  let released = false
  client.once('end', () => {
    if (!released) lost.abort(new Error('the connection that held a database lock was lost'))
  })
  const end = async () => {
    released = true
    await client.end().catch(() => {})
  }
  try {
    await client.query('select pg_advisory_lock($1)', [key])
  } catch (error) {
    await end()
    throw error
  }
  return { lost: lost.signal, release: end }
}
