// npm run pack -- --out <folder>: the tarballs of every published package.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { root } from '../install-if-missing.mjs'
import { buildPackages } from './build.mjs'
import { publishable } from './manifest.mjs'

/** Returns the tarballs in the order of publication: `{ name, version, file, bytes, files }`. */
export async function packPackages(out) {
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  mkdirSync(out, { recursive: true })
  const staging = mkdtempSync(join(cache, 'assay-pack-'))
  try {
    await buildPackages(staging)
    const folders = publishable.map((name) => join(staging, name))
    // npm itself decides what belongs into a tarball.
    const npm = process.env.npm_execpath
    const [command, first] = npm?.endsWith('js') ? [process.execPath, [npm]] : [npm ?? 'npm', []]
    const args = [
      ...first,
      'pack',
      ...folders,
      '--pack-destination',
      resolve(out),
      '--json',
      '--ignore-scripts',
      '--loglevel=error',
    ]
    const { stdout } = await promisify(execFile)(command, args, { cwd: staging, maxBuffer: 64 << 20 })
    const packed = Object.values(JSON.parse(stdout))
    return packed.map(({ name, version, filename, size, files }) => ({
      name,
      version,
      file: join(resolve(out), filename),
      bytes: size,
      files: files.map(({ path }) => path),
    }))
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { out: { type: 'string' } } })
  if (values.out === undefined) {
    process.stderr.write('Say where the tarballs go: npm run pack -- --out <folder>\n')
    process.exit(2)
  }
  for (const { file, bytes, files } of await packPackages(values.out))
    process.stdout.write(`${file}  ${Math.ceil(bytes / 1000)} kB, ${files.length} files\n`)
}
