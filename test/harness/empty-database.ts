import { randomBytes } from 'node:crypto'
import { connectClient } from '../../packages/till/src/store/connection.ts'

/** A database without any table on the server of this one: the node that starts on it creates what it needs. */
export async function openEmptyDatabase(databaseUrl: string): Promise<{ url: string; close(): Promise<void> }> {
  const name = `empty_${randomBytes(6).toString('hex')}`
  const onServer = async (statement: string) => {
    const client = await connectClient({ url: databaseUrl })
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await onServer(`create database ${name}`)
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return { url: url.href, close: () => onServer(`drop database if exists ${name} with (force)`) }
}
