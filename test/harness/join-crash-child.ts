import { join } from 'node:path'
import { build } from 'esbuild'
import { buildInto, joinProgram } from '../../packages/till/src/kernel/join-program.fixture.ts'

const root = join(import.meta.dirname, '..', '..')
const sourceOf = (main: string) => join(import.meta.dirname, `${main}.ts`)

export const joinCrashChild = (main: 'crash-child-main' | 'seller-child-main' = 'crash-child-main') =>
  joinProgram(sourceOf(main))

/** The seller in its own project: what it imports by name, it gets from the packages that are installed there. */
export async function joinInProject(project: string): Promise<string> {
  const own = ['@assay/*', 'express', 'hono', 'hono/*', '@hono/*', 'fastify', 'zod']
  await buildInto(project, sourceOf('seller-child-main'), own)
  return join(project, 'seller-child-main.mjs')
}

/** An example in such a project; returns the name of its program. */
export async function joinExample(project: string, name: string): Promise<string> {
  const outfile = join(project, `example-${name}.mjs`)
  await build({
    entryPoints: [join(root, 'examples', name, 'main.ts')],
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', packages: 'external', logLevel: 'error' },
  })
  return outfile
}
