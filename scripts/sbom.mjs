// npm run -s sbom > sbom.json, or npm run sbom -- --out sbom.json: what a node loads, as CycloneDX. Read from the lockfile, so
// nothing need be installed. Without -s npm prints its own header before it, which is no JSON.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './install-if-missing.mjs'

const { values } = parseArgs({ options: { out: { type: 'string' } } })
// npm sets npm_execpath for scripts: the same npm that runs us, whatever its name or place.
const npm = process.env.npm_execpath
const [command, first] = npm?.endsWith('js') ? [process.execPath, [npm]] : [npm ?? 'npm', []]
const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--omit', 'dev']
const { status, stdout } = spawnSync(command, [...first, ...args], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1_048_576,
  stdio: ['ignore', 'pipe', 'inherit'],
})
if (status !== 0) process.exit(status ?? 1)
const text = `${JSON.stringify(JSON.parse(stdout), null, 2)}\n`
if (values.out === undefined) process.stdout.write(text)
else {
  // Where npm was called, not where it runs its scripts.
  const file = resolve(process.env.INIT_CWD ?? '.', values.out)
  writeFileSync(file, text)
  process.stderr.write(`${file}: ${JSON.parse(text).components.length} packages\n`)
}
