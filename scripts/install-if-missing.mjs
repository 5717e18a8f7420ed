// Installs dependencies when they are missing or older than the lockfile. Uses nothing but Node and npm.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const stampFile = join(root, 'node_modules', '.assay-installed')

function lockDigest() {
  const files = ['package-lock.json', 'package.json']
  return files
    .map((file) =>
      createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest('hex'),
    )
    .join('\n')
}

export function installIfMissing() {
  const wanted = `${lockDigest()}\n${process.platform} ${process.arch} ${process.versions.modules}`
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return
  const major = Number(process.versions.node.split('.')[0])
  if (major < 20) {
    process.stderr.write(`Assay needs Node 20 or newer; this is ${process.versions.node}.\n`)
    process.exit(1)
  }
  process.stderr.write('Installing dependencies (once, about a minute) ...\n')
  // Not `npm ci`: it insists on every platform's optional binary being in the lockfile, and some are not published for all.
  // npm sets npm_execpath for scripts: the same npm that runs us, whatever its name or place.
  const npm = process.env.npm_execpath
  const [command, first] = npm?.endsWith('js') ? [process.execPath, [npm]] : [npm ?? 'npm', []]
  const result = spawnSync(command, [...first, 'install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (result.status !== 0) {
    process.stderr.write('The installation failed. Check the network, then run the same command again.\n')
    process.exit(result.status ?? 1)
  }
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, wanted)
}
