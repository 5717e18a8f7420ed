import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AssayClient, callOperation } from '@assay/sdk'
import { answerOf, refusal } from '../buy/documents.ts'
import type { CommandContext } from '../command-context.ts'
import { CliError, exitCodes, usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'

export type MonthsOptions = { url: string; bulk: string; from?: string; format: string; json?: boolean }

/** Past months of a feed as files. What is there with the right hash is not paid for again. */
export async function saveMonths(
  { terminal }: CommandContext,
  client: Pick<AssayClient, 'fetch'>,
  feed: string,
  options: MonthsOptions,
): Promise<void> {
  const { url, bulk: folder, format } = options
  const since = options.from ?? new Date(Date.now() - 365 * 86_400_000).toISOString().slice(0, 7)
  if (!/^\d{4}-\d{2}$/.test(since)) throw usageError(`--from: ${since} is not a month such as 2025-11`)
  const listed = async () =>
    (await callOperation(client, 'matrix.bulk', { params: { feed } }, { baseUrl: url })).data.data
  const wanted = (await listed()).filter((entry) => entry.format === format && entry.month >= since)
  if (wanted.length === 0)
    throw new CliError(exitCodes.failed, 'no_files', `the node has no ${format} files of ${feed} since ${since} yet`, {
      hint: 'A demo node makes them when its data are loaded, some minutes after the first start.',
    })
  await mkdir(folder, { recursive: true })
  const saved: { file: string; rows: number; bytes: number; sha256: string; state: 'saved' | 'held' }[] = []
  for (const entry of wanted) {
    const file = join(folder, `${feed}-${entry.file}`)
    const { rows, bytes: size, sha256 } = entry
    if (existsSync(file) && sha256Of(await readFile(file)) === sha256) {
      saved.push({ file, rows, bytes: size, sha256, state: 'held' })
      continue
    }
    const address = new URL(`/matrix/${feed}/bulk/${entry.file}`, url).href
    const bytes = await download(client, address)
    const isFile = (one: { file: string; sha256: string }) => one.file === entry.file && one.sha256 === sha256Of(bytes)
    // The month of now grows: what came may be newer than the list that it was chosen from.
    const found = isFile(entry) ? entry : (await listed()).find(isFile)
    if (!found)
      throw new CliError(exitCodes.notVerified, 'not_as_listed', `${address} is not what the manifest says`, {
        hint: 'It was not saved. What came may have been changed on its way.',
      })
    await writeFile(file, bytes)
    saved.push({ file, rows: found.rows, bytes: found.bytes, sha256: found.sha256, state: 'saved' })
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

async function download(client: Pick<AssayClient, 'fetch'>, url: string): Promise<Uint8Array> {
  const result = await client.fetch(url, { headers: { accept: '*/*' } })
  const { response } = result
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!response.ok) throw refusal(result, answerOf(Buffer.from(bytes).toString('utf8')))
  return bytes
}
