import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { noteLine } from '../packages/node/src/tlog/sign-note.ts'
import { checkpointText } from '../packages/protocol/src/log/checkpoint.ts'
import { noteKey, signatureTypes } from '../packages/protocol/src/log/signed-note.ts'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'
import { keyOf, origin } from './harness/evidence-world.ts'

const vkeyOf = (byte: number) => noteKey(origin, signatureTypes.ed25519, keyOf(byte).x)

/** Two heads of one size, signed with this key under the name of the log. */
function forkBy(byte: number) {
  const heads = [1, 2].map((fill) => {
    const text = checkpointText({ origin, size: 7, root: Buffer.alloc(32, fill) })
    return `${text}\n${noteLine(text, vkeyOf(byte), keyOf(byte).sign)}`
  })
  return { format: 'assay-log-fork', version: 1, origin, keys: [vkeyOf(byte).vkey], heads, sources: ['a', 'b'] }
}

const home = useFolder('fork')

async function verify(file: unknown, ...args: string[]) {
  const path = join(home, 'fork.json')
  await writeFile(path, JSON.stringify(file))
  return runCli(['verify', path, ...args], createTestTerminal())
}

test('two histories count against a log only by the key that the verifier trusts', async () => {
  const real = vkeyOf(0x41).vkey
  expect(await verify(forkBy(0x41), '--trust-key', real)).toBe(0)
  expect(await verify(forkBy(0x66), '--trust-key', real)).toBe(5)
  expect(await verify(forkBy(0x66))).toBe(0)
})

test('what a fork cannot be checked against is refused, not passed over', async () => {
  expect(await verify(forkBy(0x66), '--trust-key', keyOf(0x41).x)).toBe(2)
  expect(await verify(forkBy(0x66), '--trust-wallet', `0x${'11'.repeat(20)}`)).toBe(2)
  expect(await verify(forkBy(0x66), '--policy', 'logged')).toBe(5)
})
