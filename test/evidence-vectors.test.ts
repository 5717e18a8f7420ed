import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { type EvidenceVector, makeEvidenceVectors } from './harness/evidence-vectors.ts'
import { readEvidenceVectors } from './harness/read-evidence-vectors.ts'

const vectors = readEvidenceVectors()

const home = useFolder('vectors')

test('the vectors are what the fixed keys give', async () => {
  const made = await makeEvidenceVectors()
  const byName = (list: readonly EvidenceVector[]) => Object.fromEntries(list.map((one) => [one.name, one]))
  expect(byName(JSON.parse(JSON.stringify(made)))).toEqual(byName(vectors))
  expect(new Set(made.map(({ name }) => name)).size).toBe(made.length)
}, 60_000)

describe('a vector gives the verdict it names', () => {
  test.each(vectors.map((vector) => [vector.name, vector] as const))(
    '%s',
    async (_, { name, file, args, expected }) => {
      const path = join(home, `${name}.json`)
      await writeFile(path, JSON.stringify(file))
      const terminal = createTestTerminal()
      const code = await runCli(['verify', path, '--json', ...args], terminal)
      const { ok, checks } = JSON.parse(terminal.stdout()) as {
        ok: boolean
        checks: { name: string; status: string; detail: string }[]
      }
      const failed = checks.filter(({ status }) => status === 'failed').map((check) => check.name)
      expect({ ok, failed: failed.sort(), code }, JSON.stringify(checks)).toEqual({
        ok: expected.ok,
        failed: [...expected.failed].sort(),
        code: expected.ok ? 0 : 5,
      })
    },
  )
})
