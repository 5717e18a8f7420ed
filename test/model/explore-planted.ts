import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type PlantedFault, plantFault } from '../planted/plant.ts'
import type { Explored } from './explore.ts'

const root = join(import.meta.dirname, '..', '..')

type Planted = Pick<PlantedFault, 'name' | 'file' | 'fn' | 'find' | 'replace'>

/** Explores a bound of the model with a fault put into the code while it is loaded; no file is changed. */
export async function explorePlanted(fault: Planted, bound: string): Promise<Explored> {
  const path = join(root, fault.file)
  const { outputFiles } = await build({
    stdin: {
      contents: `export { explore } from './explore.ts'; export { smallBounds } from './bounds.ts'`,
      resolveDir: import.meta.dirname,
      loader: 'ts',
    },
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', logLevel: 'silent' },
    plugins: [
      {
        name: 'planted-fault',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, ({ path: loaded }) =>
            loaded === path
              ? {
                  contents: plantFault(readFileSync(path, 'utf8'), { ...fault, proof: { file: '', test: '' } }),
                  loader: 'ts',
                }
              : undefined,
          )
        },
      },
    ],
  })
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  const model = (await import(`data:text/javascript;base64,${code}`)) as typeof import('./explore.ts') &
    typeof import('./bounds.ts')
  const chosen = model.smallBounds.find(({ name }) => name === bound)
  if (!chosen) throw new Error(`the model has no bound "${bound}"`)
  return model.explore(chosen)
}
