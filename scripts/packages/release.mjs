// npm run release -- --dry-run: what would be published, in order, after publint and attw. Without --dry-run it is published.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../install-if-missing.mjs'
import { entryPoints, publishable, version } from './manifest.mjs'
import { packPackages } from './pack.mjs'

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })

/** The part of CHANGELOG.md about this version; a release without one has nothing to tell its users. */
function changesOf(wanted) {
  const parts = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  return parts.find((part) => part.split(/\s/)[0] === wanted)?.trim()
}

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}` }
}

const bin = (name) => join(root, 'node_modules', '.bin', name)

/** ESM alone is published, so how CommonJS or Node 10 would resolve it is not asked. */
function check(name, file) {
  const lint = run(bin('publint'), ['run', file, '--strict'])
  const hasTypes = entryPoints(name).length > 0
  const types = hasTypes
    ? run(bin('attw'), [file, '--profile', 'esm-only', '--no-definitely-typed', '--format', 'ascii', '--no-color'])
    : { ok: true, output: '' }
  return { lint, types: { ...types, text: hasTypes ? (types.ok ? 'clean' : 'FAILED') : 'no entry points' } }
}

const changes = changesOf(version)
if (changes === undefined) {
  process.stderr.write(`CHANGELOG.md says nothing about ${version}. Add "## ${version}" with what changed.\n`)
  process.exit(1)
}
const contracts = run(process.execPath, ['scripts/compile-contracts.mjs', '--check', '--all'])
if (!contracts.ok) {
  process.stderr.write(contracts.output)
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'assay-release-'))
try {
  const tarballs = await packPackages(folder)
  let failed = false
  for (const [index, { name, file, bytes, files }] of tarballs.entries()) {
    const { lint, types } = check(publishable[index], file)
    process.stdout.write(
      `${index + 1}. ${name}@${version}  ${Math.ceil(bytes / 1000)} kB, ${files.length} files  ` +
        `publint: ${lint.ok ? 'clean' : 'FAILED'}  attw: ${types.text}\n`,
    )
    for (const { ok, output } of [lint, types]) if (!ok) process.stdout.write(output)
    failed ||= !lint.ok || !types.ok
  }
  process.stdout.write(`\nChanges of ${changes}\n\n`)
  if (failed) process.exitCode = 1
  else if (values['dry-run']) process.stdout.write('nothing was published (--dry-run)\n')
  else
    for (const { file } of tarballs) {
      const published = spawnSync('npm', ['publish', file, '--access', 'public'], { cwd: root, stdio: 'inherit' })
      if (published.status !== 0) throw new Error(`${file} was not published; those above it were`)
    }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
