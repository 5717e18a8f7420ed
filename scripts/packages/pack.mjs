// npm run pack -- --out <folder>: the tarballs of every published package.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { root } from '../install-if-missing.mjs'
import { buildPackages } from './build.mjs'
import { filesBelow, publishable } from './manifest.mjs'
import { writeTarball } from './tarball.mjs'

/** Returns the tarballs in the order of publication: `{ name, version, file, bytes, files }`. */
export async function packPackages(out) {
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  mkdirSync(out, { recursive: true })
  const staging = mkdtempSync(join(cache, 'assay-pack-'))
  try {
    await buildPackages(staging)
    return publishable.map((name) => {
      const folder = join(staging, name)
      const { name: own, version, bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = join(resolve(out), `${own.replace('@', '').replace('/', '-')}-${version}.tgz`)
      const programs = Object.values(bin).map((path) => path.replace('./', ''))
      // Hidden files are what editors and systems leave.
      const files = filesBelow(folder).filter((path) => !/(?:^|\/)\./.test(path))
      const bytes = writeTarball(file, folder, files.sort(), (path) => programs.includes(path))
      return { name: own, version, file, bytes, files }
    })
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
