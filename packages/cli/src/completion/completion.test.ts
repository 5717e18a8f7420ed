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

const isHere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0
const linesOf = (shell: string, script: string) => {
  const { stdout, stderr } = spawnSync(shell, ['-c', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((line) => line !== '')
}

test.skipIf(!isHere('zsh'))(
  'zsh is given the words of the command that was typed, and files where there are none',
  () => {
    const ask = (...typed: string[]) => {
      const given = typed.map((word) => `'${word}'`).join(' ')
      const script = `compadd() { shift; (( $# )) && print -l -- "$@"; }; _files() { print files; }
words=(assay ${given}); CURRENT=${typed.length + 1}
${writeCompletion('zsh', words)}`
      return linesOf('zsh', script)
    }
    expect(ask('')).toContain('options')
    expect(ask('options', 'b')).toEqual(expect.arrayContaining(['buy', 'series']))
    expect(ask('options', '--json', 'b')).toContain('buy')
    expect(ask('options', 'buy', '--d')).toEqual(wordsAfter('options buy'))
  },
)

test.skipIf(!isHere('fish'))('fish completes the options of the command that was typed, and files', () => {
  const script = (line: string) => `${writeCompletion('fish', words)}\ncomplete -C '${line}'`
  const ask = (line: string) => linesOf('fish', script(line)).map((text) => text.split('\t')[0])
  expect(ask('assay opt')).toEqual(['options'])
  expect(ask('assay options b')).toEqual(['buy'])
  // `buy` has more options than `options buy`.
  expect(ask('assay options buy --d')).toEqual(['--demo', '--dry-run'])
  expect(ask('assay verify ./packag')).toContain('./package.json')
})

const wordsAfter = (path: string) => words.find((one) => one.path.join(' ') === path)?.words
