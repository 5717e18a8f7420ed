import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { type EvidenceReport, parseEvidence, verifyEvidence } from '../packages/sdk/src/index.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import type { EvidenceVector } from './harness/evidence-vectors.ts'
import { openPythonVerifier, pythonClient, pythonMissing } from './harness/python-verifier.ts'
import { readEvidenceVectors } from './harness/read-evidence-vectors.ts'

const vectors = readEvidenceVectors()
const vectorOf = (name: string) => vectors.find((one) => one.name === name) as EvidenceVector

if (pythonMissing) process.stderr.write('left out: the verifier in Python. python3 was not found.\n')

describe.skipIf(pythonMissing)('the verifier in Python', () => {
  let python: ReturnType<typeof openPythonVerifier>
  const home = useFolder('python')
  beforeAll(() => {
    python = openPythonVerifier()
  })
  afterAll(() => python.close())

  test('gives every vector the same checks with the same outcome as the command line', async () => {
    for (const { name, file, args, expected } of vectors) {
      const text = JSON.stringify(file)
      const found = await python.verify(text, args)
      expect({ ok: found.ok, failed: found.failed }, name).toEqual({
        ok: expected.ok,
        failed: [...expected.failed].sort(),
      })
      const path = join(home, 'file.json')
      await writeFile(path, text)
      const terminal = createTestTerminal()
      await runCli(['verify', path, '--json', ...args], terminal)
      const { checks } = JSON.parse(terminal.stdout()) as EvidenceReport
      expect(found.statuses, name).toEqual(checks.map((one) => `${one.name} ${one.status}`).sort())
    }
  }, 300_000)

  test('has the exit codes of the command line, and prints the checks', async () => {
    const run = async (file: unknown, ...args: string[]) => {
      const path = join(home, 'run.json')
      await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file))
      const { status, stdout } = spawnSync('python3', ['-m', 'assay_verify', path, ...args], {
        cwd: pythonClient,
        encoding: 'utf8',
      })
      return { status, stdout, code: await runCli(['verify', path, ...args], createTestTerminal()) }
    }
    const sound = await run(vectorOf('paid-answer').file)
    expect(sound).toMatchObject({ status: 0, code: 0 })
    expect(sound.stdout).toMatch(/^ok {2}binding/m)
    expect(await run(vectorOf('answer-changed').file)).toMatchObject({ status: 5, code: 5 })
    expect(await run('{}')).toMatchObject({ status: 2, code: 2 })
    expect(await run('nonsense')).toMatchObject({ status: 2, code: 2 })
    expect(await run(vectorOf('paid-answer').file, '--policy', 'logged')).toMatchObject({ status: 5, code: 5 })
    expect(await run(vectorOf('attestation').file, '--policy', 'enough')).toMatchObject({ status: 2, code: 2 })
    const json = await run(vectorOf('attestation').file, '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: true, checks: expect.any(Array) })
  }, 120_000)

  const tampered = [
    ['plain-answer', 60],
    ['paid-answer', 60],
    ['attestation', 60],
    ['paid-attestation', 40],
    ['five-rotations-middle', 12],
  ] as const

  test.each(tampered)(
    '%s with one byte changed never verifies, here or there',
    async (name, usual) => {
      const { file } = vectorOf(name)
      const sound = JSON.stringify(file)
      const before = fieldsOf(file)
      await fc.assert(
        fc.asyncProperty(fc.nat(sound.length - 1), fc.integer({ min: 0x20, max: 0x7e }), async (at, code) => {
          const text = `${sound.slice(0, at)}${String.fromCharCode(code)}${sound.slice(at + 1)}`
          if (text === sound) return
          const parsed = parsedOf(text)
          const evidence = parsed === undefined ? undefined : parseEvidence(parsed)
          const report = evidence && (await verifyEvidence(evidence))
          const other = await python.verify(text)
          expect(other.ok, `${name} at ${at}: ${sound.slice(at - 40, at)}[${String.fromCharCode(code)}]`).toBe(
            report?.ok ?? false,
          )
          if (!report?.ok) return
          const open = report.notCovered ?? []
          const after = fieldsOf(parsed)
          const changed = differing(before, after).filter((path) => !isOpen(path, after, open))
          expect(changed, `${name} at ${at}`).toEqual([])
        }),
        { numRuns: Number(process.env['TAMPER_RUNS'] ?? usual) },
      )
    },
    300_000,
  )
})

const parsedOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Every value of a file by its place. */
function fieldsOf(value: unknown, at = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[at, JSON.stringify(value)]])
  const inner = Object.entries(value).flatMap(([name, item]) => [
    ...fieldsOf(item, Array.isArray(value) ? `${at}[${name}]` : at === '' ? name : `${at}.${name}`),
  ])
  return new Map(inner)
}

function differing(a: Map<string, string>, b: Map<string, string>): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path))
}

/** Named as not covered, itself or as part of what is. One whose name was changed is listed beside its new name. */
function isOpen(path: string, after: Map<string, string>, open: readonly string[]): boolean {
  const named = (one: string) => open.some((o) => one === o || one.startsWith(`${o}.`) || one.startsWith(`${o}[`))
  if (after.has(path) || named(path)) return named(path)
  const kept = [...after.keys()]
  let place = path
  while (place !== '' && !kept.some((other) => other.startsWith(place))) place = place.replace(/[.[]?[^.[]*$/, '')
  return kept.some((other) => other.startsWith(place) && named(other))
}
