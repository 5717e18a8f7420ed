import { writeFile } from 'node:fs/promises'
import type { AssayClient } from '@assay/sdk'
import { usageError } from '../exit-codes.ts'

const types: Record<string, string> = {
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
}

export type Saved = { file: string; bytes: number; content_type: string }

/** One pull into a file, in the form that its name ends with, as the node signed it. */
export async function saveFeed(
  client: Pick<AssayClient, 'fetch'>,
  path: string,
  query: Record<string, string | number>,
  file: string,
): Promise<Saved> {
  const accept = types[file.split('.').at(-1) ?? '']
  if (accept === undefined) throw usageError(`--output: ${file} ends in none of ${Object.keys(types).join(', ')}`)
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const { response } = await client.fetch(`${path}?${search}`, { headers: { accept } })
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!response.ok)
    throw usageError(`the node answered ${response.status}: ${Buffer.from(bytes).toString('utf8', 0, 400)}`)
  await writeFile(file, bytes)
  return { file, bytes: bytes.length, content_type: response.headers.get('content-type') ?? accept }
}
