import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AssayClient, callOperation } from '@assay/sdk'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'

export type MonthsOptions = { url: string; bulk: string; from?: string; format: string; json?: boolean }

/** Past months of a feed as files. What is there with the right hash is not paid for again. */
export async function saveMonths(
  { terminal }: CommandContext,
  client: AssayClient,
  feed: string,
  options: MonthsOptions,
): Promise<void> {
  const { url, bulk: folder, format } = options
  const since = options.from ?? new Date(Date.now() - 365 * 86_400_000).toISOString().slice(0, 7)
  if (!/^\d{4}-\d{2}$/.test(since)) throw usageError(`--from: ${since} is not a month such as 2025-11`)
  const { data: manifest } = await callOperation(client, 'matrix.bulk', { params: { feed } }, { baseUrl: url })
  const wanted = manifest.data.filter((entry) => entry.format === format && entry.month >= since)
  if (wanted.length === 0) throw usageError(`the node has no ${format} files of ${feed} since ${since}`)
  await mkdir(folder, { recursive: true })
  const saved: { file: string; rows: number; bytes: number; sha256: string; state: 'saved' | 'held' }[] = []
  for (const { file: name, rows, bytes: size, sha256 } of wanted) {
    const file = join(folder, `${feed}-${name}`)
    const held = existsSync(file) && sha256Of(await readFile(file)) === sha256
    if (!held) await writeFile(file, await download(client, new URL(`/matrix/${feed}/bulk/${name}`, url).href, sha256))
    saved.push({ file, rows, bytes: size, sha256, state: held ? 'held' : 'saved' })
  }
  printResult(terminal, options.json, { data: saved }, () =>
    table(saved, [
      { title: 'file', of: (row) => row.file },
      { title: 'rows', of: (row) => String(row.rows), right: true },
      { title: 'bytes', of: (row) => String(row.bytes), right: true },
      { title: 'sha256', of: (row) => row.sha256.slice(0, 16) },
      { title: 'state', of: (row) => row.state },
    ]),
  )
}

const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function download(client: AssayClient, url: string, sha256: string): Promise<Uint8Array> {
  const { response } = await client.fetch(url, { headers: { accept: '*/*' } })
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!response.ok)
    throw usageError(`the node answered ${response.status}: ${Buffer.from(bytes).toString('utf8', 0, 400)}`)
  if (sha256Of(bytes) !== sha256) throw usageError(`${url} is not what the manifest says; nothing was saved`)
  return bytes
}
