import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test, vi } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { startSummary } from '../packages/node/src/start-summary.ts'
import { joinProgram } from '../packages/till/src/kernel/join-program.fixture.ts'
import { useTill } from './harness/use-till.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const gettingStarted = readFileSync(join(root, 'docs/getting-started.md'), 'utf8')
const run = promisify(execFile)

const till = useTill()
const folder = mkdtempSync(join(tmpdir(), 'assay-readme-'))
// Below the workspace, so that packages are found as they are from the folder a reader saves into.
mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
const scripts = mkdtempSync(join(root, 'node_modules/.cache/assay-readme-'))
afterAll(async () => {
  for (const path of [scripts, folder]) rmSync(path, { recursive: true, force: true })
})

/** Documents show the default address; the node under test has another. */
const here = (text: string) => text.replaceAll('http://127.0.0.1:4020', till.node.url)

/** A code block as the reader saves it: its first line names the file. */
function saveScript(name: string, document = readme): string {
  const [, code] = document.match(new RegExp(`\`\`\`js\\n(// ${name}\\n[\\s\\S]*?)\`\`\``)) ?? []
  if (code === undefined) throw new Error(`no document shows ${name}`)
  const path = join(scripts, name)
  writeFileSync(path, here(code))
  return path
}

/** The words of a line as a shell would pass them on. */
const wordsOf = (line: string) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')

test('the SDK example buys and verifies', async () => {
  expect(readme).toContain('npx tsx first-purchase.mjs')
  // Joined with the SDK, which takes a fraction of loading it one by one, as tsx does for a reader.
  const { stdout } = await run(process.execPath, [await joinProgram(saveScript('first-purchase.mjs'))], { cwd: root })
  expect(stdout).toMatch(/echo: 'hello'/)
  expect(stdout).toMatch(/settled 0x[0-9a-f]{64} verified/)
})

test('the example with the unmodified x402 client buys', async () => {
  expect(readme).toContain('node stock-purchase.mjs')
  const { stdout } = await run(process.execPath, [saveScript('stock-purchase.mjs')], { cwd: root })
  expect(stdout).toMatch(/^200 \{\s*echo: 'hello'/)
  const [header = ''] = stdout.trim().split('\n').slice(-1)
  expect(JSON.parse(Buffer.from(header, 'base64').toString())).toMatchObject({ success: true })
})

test('the script for curl signs a payment, and verifies what curl brought back', async () => {
  const script = await joinProgram(saveScript('curl-pay.mjs', gettingStarted))
  const url = `${till.node.url}/v1/sandbox/echo?message=hello`
  const pay = (...args: string[]) => run(process.execPath, [script, ...args], { cwd: root })
  const signed = (await pay('sign', url)).stdout.trim()
  // As curl -D and -o would: the answer and its headers, to the byte.
  const response = await fetch(url, { headers: { 'payment-signature': signed } })
  const [headers, body] = [join(folder, 'headers.txt'), join(folder, 'answer.txt')]
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  writeFileSync(headers, [`HTTP/1.1 ${response.status} OK`, ...lines, '', ''].join('\r\n'))
  writeFileSync(body, Buffer.from(await response.arrayBuffer()))
  expect(readFileSync(body, 'utf8')).toContain('"echo":"hello"')
  expect((await pay('verify', url, headers, body)).stdout).toContain("status: 'verified'")
})

test('the program itself runs without a build, and the purchase a start prints works when pasted', async () => {
  const [line = ''] = startSummary(till.node, 1).match(/npx assay buy .*/) ?? []
  const [npx, assay, ...args] = wordsOf(line)
  expect([npx, assay]).toEqual(['npx', 'assay'])
  expect(here(readme)).toContain(line)
  const bin = join(root, 'packages/cli/bin/assay.mjs')
  const { stdout, stderr } = await run(process.execPath, [bin, ...args], { cwd: folder })
  expect(JSON.parse(stdout)).toMatchObject({ echo: 'hello' })
  expect(stderr).toContain('signature verified')
})

test('every other assay command of the first steps does what README says', async () => {
  const before = readme.slice(0, readme.indexOf('\n## Configuration'))
  const lines = [...before.matchAll(/^npx assay (.*)$/gm)].map(([, line = '']) => wordsOf(here(line)))
  expect(lines.length).toBeGreaterThan(3)
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
  for (const words of lines) {
    const terminal = createTestTerminal()
    // The test runs in another folder than a reader does.
    const args = words.map((word) => (word.endsWith('.json') ? join(folder, word) : word))
    expect(await runCli(args, terminal), `${words.join(' ')}: ${terminal.stderr()}`).toBe(0)
  }
  cwd.mockRestore()
})
