/** Every bench, in the order they are run: what it is called, how it is started, and how long it may take. */
export type Bench = {
  name: string
  args: readonly string[]
  quick?: readonly string[]
  minutesMax: number
  /** One of those that say most about a sale: together under twenty minutes. */
  core: boolean
  /** As a reader would type it. */
  command: string
}

const coreNames = new Set(['till', 'peers', 'tokens', 'matrix', 'load', 'drill'])

const shop = (name: string, minutesMax: number, more: { args?: string[]; quick?: string[] } = {}): Bench => ({
  name: [name, ...(more.args ?? [])].join(' '),
  args: ['--import', 'tsx', `bench/${name}/main.ts`, ...(more.args ?? [])],
  ...(more.quick ? { quick: more.quick } : {}),
  minutesMax,
  core: coreNames.has([name, ...(more.args ?? [])].join(' ')),
  command: `npx tsx bench/${name}/main.ts${(more.args ?? []).map((arg) => ` ${arg}`).join('')}`,
})

const proof = (name: string, script: string, minutesMax: number, quick?: string[]): Bench => ({
  name,
  args: ['scripts/run-bench.mjs', name],
  ...(quick ? { quick } : {}),
  minutesMax,
  core: coreNames.has(name),
  command: `npm run ${script}`,
})

export const benches: readonly Bench[] = [
  proof('till', 'bench:till', 12, ['--quick']),
  proof('peers', 'bench:peers', 12, ['--quick']),
  shop('providers', 3),
  shop('tokens', 5),
  shop('matrix', 8),
  shop('matrix', 12, { args: ['year'] }),
  shop('commerce', 8, { quick: ['--quick'] }),
  shop('sources', 10),
  shop('citescore', 5),
  shop('citations', 15, { quick: ['--leaves', '50000', '--attest', '600'] }),
  shop('match', 20, { quick: ['--pages', '50000', '--peers', '10000'] }),
  shop('identity', 5),
  shop('ways-to-pay', 25, { quick: ['--quick'] }),
  shop('mesh', 8),
  shop('options', 8, { quick: ['--buys', '600'] }),
  shop('intents', 8, { quick: ['--quick'] }),
  shop('console', 5, { quick: ['--quick'] }),
  shop('faces', 5, { quick: ['--quick'] }),
  proof('load', 'load', 6, ['--quick']),
  proof('scale', 'scale', 25, ['--quick']),
  proof('partitions', 'scale:partitions', 8, ['--quick']),
  proof('drill', 'drill', 6),
]
