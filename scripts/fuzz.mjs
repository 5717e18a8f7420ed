// npm run fuzz [-- --rounds N] [-- --seed S]: property tests with seeds that npm test does not use. Says the seed of a failure.
import { execFileSync, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installIfMissing, root } from './install-if-missing.mjs'

installIfMissing()
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, seed: { type: 'string' } } })
const files = execFileSync('git', ['grep', '-l', "from 'fast-check'", '--', '*.test.ts'], {
  cwd: root,
  encoding: 'utf8',
})
const rounds = values.seed === undefined ? Number(values.rounds) : 1
for (let round = 1; round <= rounds; round += 1) {
  const seed = values.seed ?? String(randomInt(2 ** 31))
  process.stdout.write(`round ${round} of ${rounds}, seed ${seed}\n`)
  const { status } = spawnSync(
    join(root, 'node_modules', '.bin', 'vitest'),
    ['run', '--reporter=dot', ...files.trim().split('\n')],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, FUZZ_SEED: seed },
    },
  )
  if (status !== 0) {
    process.stdout.write(`\nfailed with seed ${seed}. Again: npm run fuzz -- --seed ${seed}\n`)
    process.exit(1)
  }
}
process.stdout.write(`\n${rounds} rounds of ${files.trim().split('\n').length} files held\n`)
