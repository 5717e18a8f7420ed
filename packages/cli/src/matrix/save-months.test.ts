import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AssayClient } from '@assay/sdk'
import { expect, test } from 'vitest'
import { createTestTerminal } from '../terminal.fixture.ts'
import { saveMonths } from './save-months.ts'

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** A node whose list says one thing after the other, while the file is what it is. */
const openNode = (listed: string[], content: string): Pick<AssayClient, 'fetch'> => ({
  fetch: async (url) => {
    const answer = (response: Response) => ({ response }) as Awaited<ReturnType<AssayClient['fetch']>>
    if (!String(url).endsWith('/bulk')) return answer(new Response(content))
    const text = (listed.length > 1 ? listed.shift() : listed[0]) ?? ''
    const entry = { file: '2026-11.csv', month: '2026-11', format: 'csv', rows: 1, bytes: 3, sha256: hashOf(text) }
    return answer(Response.json({ data: [entry] }))
  },
})

async function save(listed: string[], content: string): Promise<string[] | string> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-months-'))
  try {
    const options = { url: 'https://node.example', bulk: folder, from: '2026-01', format: 'csv', json: true }
    const context = { terminal: createTestTerminal(), endWith: () => {} }
    await saveMonths(context, openNode(listed, content), 'squeeze', options)
    return await readdir(folder)
  } catch (error) {
    return String(error)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('a month that grew since it was listed is saved once the list says so too; anything else is not', async () => {
  expect(await save(['now'], 'now')).toEqual(['squeeze-2026-11.csv'])
  expect(await save(['before', 'now'], 'now')).toEqual(['squeeze-2026-11.csv'])
  expect(await save(['before', 'now'], 'neither')).toContain('is not what the manifest says')
})
