// The compressed size of each entry point of the SDK stays within what its README promises.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { root } from './install-if-missing.mjs'
import { entryPoints } from './packages/manifest.mjs'

const readme = readFileSync(join(root, 'packages/sdk/README.md'), 'utf8')
const promised = new Map(
  [...readme.matchAll(/^\| `(@assay\/sdk[^`]*)` \|.*\| (\d+) kB \| (\d+) kB \|$/gm)].map(([, name, ...kilobytes]) => [
    name,
    kilobytes.map(Number),
  ]),
)

async function sizeOf(file, external) {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'packages/sdk', file)],
    bundle: true,
    minify: true,
    format: 'esm',
    // Fails on whatever a browser does not have.
    platform: 'browser',
    target: 'es2022',
    external,
    write: false,
  })
  return gzipSync(outputFiles[0].contents, { level: 9 }).length / 1000
}

for (const { name, file } of entryPoints('sdk')) {
  const limits = promised.get(name)
  const sizes = [await sizeOf(file, ['viem', 'viem/*']), await sizeOf(file, [])]
  const within = limits !== undefined && sizes.every((size, index) => size <= limits[index])
  const [alone, all] = sizes.map((size) => `${size.toFixed(1)} kB`)
  process.stdout.write(`${within ? 'ok' : 'TOO LARGE'}  ${name}  ${alone}, with viem ${all}\n`)
  if (!within) process.exitCode = 1
}
