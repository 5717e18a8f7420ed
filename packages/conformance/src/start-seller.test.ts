import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test, vi } from 'vitest'
import { startSeller } from './start-seller.ts'

const folder = mkdtempSync(join(tmpdir(), 'start-seller-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Notes its process id and its address, and that it was asked to stop. */
writeFileSync(
  join(folder, 'seller.mjs'),
  `import { createServer } from 'node:http'
   import { appendFileSync } from 'node:fs'
   const server = createServer((request, response) => response.writeHead(402).end())
   server.listen(Number(process.env.PORT), '127.0.0.1', () => appendFileSync(process.env.NOTES, 'pid ' + process.pid + '\\n'))
   process.on('SIGTERM', () => { appendFileSync(process.env.NOTES, 'stopped\\n'); process.exit(0) })`,
)
const port = await new Promise<number>((resolve) => {
  const probe = spawn(process.execPath, [
    '-e',
    `const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })`,
  ])
  probe.stdout.once('data', (text) => resolve(Number(text)))
})
const url = `http://127.0.0.1:${port}/`
const commandOf = (notes: string) => `PORT=${port} NOTES=${notes} ${process.execPath} ${join(folder, 'seller.mjs')}`
const pidsIn = (notes: string) =>
  [...(existsSync(notes) ? readFileSync(notes, 'utf8') : '').matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid))

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a seller is killed for a restart, and asked to stop at the end, so that it can end its own children', async () => {
  const notes = join(folder, 'notes')
  const seller = await startSeller(commandOf(notes), url)
  await seller.restart()
  expect(pidsIn(notes)).toHaveLength(2)
  expect(readFileSync(notes, 'utf8')).not.toContain('stopped')
  await seller.stop()
  expect(readFileSync(notes, 'utf8')).toContain('stopped')
  // The first was killed outright: its process stays until it is reaped.
  for (const pid of pidsIn(notes)) await expect.poll(() => isAlive(pid)).toBe(false)
})

test('a seller ends with the checkSeller, even if that is killed', async () => {
  const notes = join(folder, 'notes-killed')
  const program = join(folder, 'check.mjs')
  const source = pathToFileURL(join(import.meta.dirname, 'start-seller.ts')).href
  writeFileSync(
    program,
    `const { startSeller } = await import(${JSON.stringify(source)})
     await startSeller(${JSON.stringify(commandOf(notes))}, ${JSON.stringify(url)})
     setInterval(() => {}, 1000)`,
  )
  const check = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), program], { stdio: 'ignore' })
  await vi.waitFor(() => expect(pidsIn(notes)).toHaveLength(1), 60_000)
  check.kill('SIGKILL')
  await vi.waitFor(() => expect(pidsIn(notes).some(isAlive)).toBe(false), 60_000)
  expect(readFileSync(notes, 'utf8')).toContain('stopped')
}, 150_000)

test('a command that ends before it sells is reported at once', async () => {
  await expect(startSeller('exit 3', url)).rejects.toThrow('ended before it answered')
})
