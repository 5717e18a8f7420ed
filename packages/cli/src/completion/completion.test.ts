import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { createProgram } from '../program.ts'
import { createTestTerminal } from '../terminal.fixture.ts'
import { wordsOf } from './command.ts'
import { writeCompletion } from './write-completion.ts'

const terminal = createTestTerminal()
const words = wordsOf(createProgram({ terminal, endWith: () => {} }))

test('every command can be completed', () => {
  const paths = words.map(({ path }) => path.join(' '))
  for (const path of ['', 'buy', 'source register', 'ledger']) expect(paths).toContain(path)
  for (const { words: after } of words) for (const word of after) expect(word).toMatch(/^[a-zA-Z0-9_-]+$/)
})

test('bash completes commands, their commands and options', () => {
  const ask = (...typed: string[]) => {
    const array = typed.map((word) => `'${word}'`).join(' ')
    const script = `${writeCompletion('bash', words)}
COMP_WORDS=(assay ${array}); COMP_CWORD=${typed.length}; _assay; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.split('\n').filter((line) => line !== '')
  }
  expect(ask('bu')).toEqual(['buy'])
  expect(ask('source', 'reg')).toEqual(['register'])
  expect(ask('source', '--json', 'reg')).toEqual(['register'])
  expect(ask('buy', 'http://x', '--max')).toEqual(['--max-amount'])
})

test('the other shells get a text that names each command', () => {
  for (const shell of ['zsh', 'fish'] as const) {
    const text = writeCompletion(shell, words)
    for (const { path } of words) expect(text).toContain(path.at(-1) ?? 'assay')
  }
})
