// npm run test:node24: the checks and tests of `npm test`, run by Node 24. Arguments go to them.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installIfMissing, root } from './install-if-missing.mjs'

installIfMissing()

const version = '24.21.0'
const folder = join(root, 'node_modules', '.cache', `node-${version}`)
const bin = join(folder, 'node_modules', '.bin')
const run = (command, args, options) => spawnSync(command, args, { stdio: 'inherit', ...options }).status ?? 1

if (!existsSync(join(bin, 'node'))) {
  process.stdout.write(`fetching Node ${version}\n`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const status = run('npm', ['install', '--no-save', '--no-audit', '--no-fund', `node@${version}`], { cwd: folder })
  if (status !== 0) process.exit(status)
}
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
process.exitCode = run(join(bin, 'node'), ['scripts/test.mjs', ...process.argv.slice(2)], { cwd: root, env })
