// What is installed is what the lockfile says, package for package and hash for hash.
//
// This is what `npm ci` is used for. It cannot be used itself: it refuses a lockfile in which the optional binary of any
// platform is missing, and not every registry carries all of them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './install-if-missing.mjs'

const packagesIn = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages
const locked = packagesIn('package-lock.json')
const installed = packagesIn('node_modules/.package-lock.json')
const isLink = (entry) => entry.link === true

// `npm run mutate` puts its tools beside the others until the next installation.
const hasMutationTools = installed['node_modules/@stryker-mutator/core'] !== undefined

const faults = []
for (const [path, entry] of Object.entries(installed)) {
  const wanted = locked[path]
  if (isLink(entry)) continue
  if (wanted === undefined) {
    if (!hasMutationTools) faults.push(`${path} is installed and not in the lockfile`)
  } else if (wanted.version !== entry.version || wanted.integrity !== entry.integrity)
    faults.push(`${path} is ${entry.version}, the lockfile has ${wanted.version}, or its hash differs`)
}
for (const [path, entry] of Object.entries(locked))
  if (path.startsWith('node_modules/') && !isLink(entry) && !entry.optional && installed[path] === undefined)
    faults.push(`${path} is in the lockfile and not installed`)

for (const fault of faults) process.stdout.write(`${fault}\n`)
if (faults.length > 0) {
  process.stdout.write('Remove node_modules and run `npm test` again.\n')
  process.exit(1)
}
process.stdout.write(`${Object.keys(installed).length} packages as the lockfile has them\n`)
